"""haproxy with the configuration of deploy/haproxy, in front of workers on this machine."""

import contextlib
import csv
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from support.runs.waits import wait_until
from support.servers.service import Service

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "deploy" / "haproxy" / "edge.cfg"
CACHED = POLICY.with_name("cached.cfg")


class Balancer(NamedTuple):
    """A running haproxy: its port, the one for a cache, and the socket of its statistics."""

    port: int
    cached_port: int
    console: Path

    def await_in_service(self, workers: Iterable[Service]) -> None:
        """Waits until haproxy has found all of these workers ready, for requests and for feeds."""
        wanted = {(backend, _name(worker)) for worker in workers for backend in ("api", "feeds")}
        wait_until(lambda: wanted <= self._in_service(), "haproxy does not find the workers")

    def sessions(self, backend: str) -> int:
        """Returns how many connections a backend has served."""
        (row,) = (row for row in self._rows() if (row["pxname"], row["svname"]) == (backend, "BACKEND"))
        return int(row["stot"])

    def _in_service(self) -> set[tuple[str, str]]:
        """Returns the workers that passed their last check; an unchecked worker does not count."""
        return {(row["pxname"], row["svname"]) for row in self._rows() if row["check_status"] == "L7OK"}

    def _rows(self) -> list[dict[str, str]]:
        with socket.socket(socket.AF_UNIX) as console:
            console.connect(str(self.console))
            console.sendall(b"show stat\n")
            return list(csv.DictReader(console.makefile().read().removeprefix("# ").splitlines()))


def find_haproxy() -> str | None:
    """Returns the path of haproxy, which Debian installs outside of users' PATH."""
    return shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")


@contextlib.contextmanager
def running_balancer(workers: Sequence[Service], policy: Path = POLICY) -> Iterator[Balancer]:
    """Runs haproxy in front of these workers, which may start later."""
    with (
        socket.socket() as public,
        socket.socket() as cached,
        tempfile.TemporaryDirectory(prefix="qc") as folder,
    ):
        for door in (public, cached):
            door.bind(("127.0.0.1", 0))
            door.listen(4096)
        ports = [door.getsockname()[1] for door in (public, cached)]
        balancer = Balancer(ports[0], ports[1], Path(folder) / "console")
        places = Path(folder) / "workers.cfg"
        places.write_text(_places(workers, balancer.console), "utf-8")
        process = subprocess.Popen(
            [find_haproxy() or "haproxy", "-db", "-f", str(policy), "-f", str(CACHED), "-f", str(places)],
            env={
                **os.environ,
                "QUOTECAST_EDGE_BIND": f"fd@{public.fileno()}",
                "QUOTECAST_CACHED_BIND": f"fd@{cached.fileno()}",
            },
            pass_fds=[public.fileno(), cached.fileno()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Only haproxy listens now: if it ends, the kernel refuses clients at once.
        public.close()
        cached.close()
        try:
            wait_until(balancer.console.exists, "haproxy does not run")
            yield balancer
        finally:
            process.kill()
            process.wait()


def _places(workers: Sequence[Service], console: Path) -> str:
    api = [f"    server {_name(each)} 127.0.0.1:{each.port}" for each in workers]
    feeds = [
        f"    server {_name(each)} 127.0.0.1:{each.feed_port} check port {each.port}" for each in workers
    ]
    head = ["global", f"    stats socket {console}"]
    return "\n".join([*head, "backend api from workers", *api, "backend feeds from workers", *feeds, ""])


def _name(worker: Service) -> str:
    return f"worker-{worker.port}"
