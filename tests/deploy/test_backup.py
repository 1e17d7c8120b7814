"""The backup and the restore in docs/operating.md bring back the users' data."""

import os
import re
import subprocess
from pathlib import Path

from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.local import postgres
from support.oracles.transactions import query_server, register_user, visible_users
from support.servers.processes import Postgres

GUIDE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text("utf-8")


def documented_command(tool: str) -> str:
    """Returns the page's one command line of a tool."""
    (line,) = re.findall(rf"^    ({tool} .*)$", GUIDE, re.MULTILINE)
    return str(line)


def run(command: str, url: str, folder: Path) -> None:
    path = f"{postgres._binaries()}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "QUOTECAST_DATABASE_URL": url}
    subprocess.run(["/bin/bash", "-c", command], cwd=folder, env=environment, check=True)


async def test_a_backup_restores_the_users_data(own_postgres: Postgres, tmp_path: Path) -> None:
    """A backup restores into an empty database, which `quotecast migrate` finds up to date."""
    for name in ("lost", "restored"):
        await query_server(own_postgres.url, f"CREATE DATABASE {name}")
    lost, restored = map(own_postgres.database_url, ("lost", "restored"))
    await migrations.apply(lost)
    async with Database(lost, pool_size=1) as database:
        for number in range(3):
            await database.transaction(register_user(number))
    run(documented_command("pg_dump"), lost, tmp_path)
    run(documented_command("pg_restore"), restored, tmp_path)
    assert await visible_users(restored) == [0, 1, 2]
    everything = "SELECT * FROM users ORDER BY id"
    assert await query_server(restored, everything) == await query_server(lost, everything)
    assert await migrations.apply(restored) == []
