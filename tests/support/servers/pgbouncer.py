"""A real PgBouncer in front of a test's PostgreSQL, configured as docs/operating.md says."""

import asyncio
import configparser
import contextlib
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import asyncpg

from quotecast.local import postgres
from support.servers.processes import Postgres

ROOT: Final = Path(__file__).parents[3]
#: Debian's release, and a newer one that `tests/deploy/install-pgbouncer` builds.
DEBIAN: Final = "pgbouncer"
NEWER: Final = str(ROOT / ".pgbouncer" / "pgbouncer")
PORT: Final = "6432"
START_SECONDS: Final = 20.0


class PgBouncer:
    """A PgBouncer process in front of `server`, which a test may kill and restart."""

    def __init__(
        self, folder: Path, server: Postgres, program: str = DEBIAN, settings: Mapping[str, str] = {}
    ) -> None:
        self._folder = folder
        self._program = program
        self._user = postgres.system_user()
        self._file = folder / "pgbouncer.ini"
        self._file.write_text(_configuration(folder, server, program, settings), "utf-8")
        postgres.give_to(folder, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        self.url = self.database_url("postgres")

    def database_url(self, name: str) -> str:
        return f"postgresql://quotecast@/{quote(name)}?{urlencode({'host': self._folder, 'port': PORT})}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [self._program, "--quiet", str(self._file)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            group=self._user,
            extra_groups=[] if self._user else None,
        )
        deadline = time.monotonic() + START_SECONDS
        while not asyncio.run(_listens(self.url)):
            assert time.monotonic() < deadline, "PgBouncer does not listen"
            assert self._process.poll() is None, "PgBouncer ended"

    def kill(self) -> None:
        """Ends the process as a crash would; clients are disconnected."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def running_pgbouncer(
    server: Postgres, program: str = DEBIAN, settings: Mapping[str, str] = {}
) -> Iterator[PgBouncer]:
    with tempfile.TemporaryDirectory(prefix="qc") as folder:
        pooler = PgBouncer(Path(folder), server, program, settings)
        pooler.start()
        try:
            yield pooler
        finally:
            pooler.kill()


def documented_settings() -> dict[str, str]:
    """Returns PgBouncer's settings from docs/operating.md."""
    text = (ROOT / "docs" / "operating.md").read_text("utf-8")
    found = re.search(r"^```ini\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found
    parser = configparser.ConfigParser()
    parser.read_string(found[1])
    return dict(parser["pgbouncer"])


def _configuration(folder: Path, server: Postgres, program: str, settings: Mapping[str, str]) -> str:
    """Returns the configuration for a test's server, which trusts every user of the socket."""
    values = documented_settings()
    if not _prepares(program):
        del values["max_prepared_statements"]
    values |= {
        "listen_addr": "",
        "listen_port": PORT,
        "unix_socket_dir": str(folder),
        "auth_type": "any",
        **settings,
    }
    lines = [f"{name} = {value}" for name, value in values.items()]
    database = f"* = host={server.socket.parent} port=5432 user=quotecast"
    return "\n".join(["[databases]", database, "[pgbouncer]", *lines, ""])


def _prepares(program: str) -> bool:
    """Returns whether this version supports prepared statements: 1.21 and later."""
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", version)
    assert found
    return (int(found[1]), int(found[2])) >= (1, 21)


async def _listens(url: str) -> bool:
    try:
        connection = await asyncpg.connect(url, timeout=START_SECONDS)
    except (OSError, asyncpg.PostgresError):
        await asyncio.sleep(0.02)
        return False
    connection.terminate()
    return True
