"""nginx with deploy/nginx/debian.conf, in front of a worker or a balancer on this machine."""

import contextlib
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.cache import configuration, find_nginx

from support.runs.waits import wait_until


class Cache(NamedTuple):
    """A running nginx: its port, and the folder of its stored answers."""

    port: int
    answers: Path

    @property
    def url(self) -> str:
        """Returns the URL of the cache."""
        return f"http://127.0.0.1:{self.port}"


@contextlib.contextmanager
def running_cache(
    worker: int, *, limits: str = "edge", origins: Sequence[str] = (), more: str = ""
) -> Iterator[Cache]:
    """Runs nginx in front of a port; the arguments are those of `configuration`."""
    with tempfile.TemporaryDirectory(prefix="qc") as name, socket.socket() as reserved:
        folder = Path(name)
        # nginx's processes run as another user if this one is root.
        folder.chmod(0o755)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        main = folder / "nginx.conf"
        text = configuration(folder, port, worker, limits=limits, origins=origins, more=more)
        main.write_text(text, "utf-8")
        process = subprocess.Popen([find_nginx(), "-c", str(main), "-g", "daemon off;"])
        try:
            wait_until(lambda: _listens(port, process), "nginx does not listen")
            yield Cache(port, folder / "answers")
        finally:
            process.terminate()
            process.wait()


def _listens(port: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "nginx does not start"
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0
