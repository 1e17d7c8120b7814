"""Real servers for tests: Valkey and PostgreSQL from Python wheels, on Unix sockets in temporary folders."""

import asyncio
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import redis

from quotecast.local import postgres, probes, valkey


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
    """A PostgreSQL process that a test may kill, freeze and restart."""

    def __init__(self, folder: Path) -> None:
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
        postgres.create(self._cluster, self._user)
        self._process = subprocess.Popen(
            postgres.command(self._cluster, self._sockets),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            group=self._user,
            extra_groups=[] if self._user else None,
        )
        deadline = time.monotonic() + 20
        while True:
            try:
                asyncio.run(probes.postgres(self.url))
            except probes.NoAnswer:
                if time.monotonic() > deadline:
                    raise
            else:
                return

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
        sessions = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *map(int, sessions)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, number)


@contextlib.contextmanager
def running_postgres() -> Iterator[Postgres]:
    with tempfile.TemporaryDirectory(prefix="qc") as folder:
        server = Postgres(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.kill()
