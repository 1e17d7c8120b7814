"""Real servers for tests: Valkey from its wheel, on a Unix socket in a temporary folder."""

import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import redis

from quotecast.local import valkey


class Valkey:
    """A Valkey process that a test may kill, freeze and start again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = folder / "valkey.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = valkey.url(self._socket)

    def start(self) -> None:
        self._process = subprocess.Popen(
            valkey.command(self._folder, self._socket), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 10
        with redis.Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                except redis.ConnectionError:
                    if time.monotonic() > deadline:
                        raise
                else:
                    return

    def kill(self) -> None:
        """Ends it as a crash would; what it had not saved is gone."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def running_valkey() -> Iterator[Valkey]:
    with tempfile.TemporaryDirectory(prefix="qc") as folder:
        server = Valkey(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.kill()
