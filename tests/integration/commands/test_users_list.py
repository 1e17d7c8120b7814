"""The command `quotecast users list` prints each user once, for people and for machines."""

import itertools
import json
import os
from asyncio.subprocess import DEVNULL

import asyncpg
import pytest

from support.servers.users_command import command, start
from support.stages.account_service import account_service


async def run_sql(database_url: str, statement: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(statement)
    await connection.close()


async def test_everybody_is_listed(accounts_url: str) -> None:
    """The list has a line per user in columns, in order of registration, with times in UTC."""
    moments = itertools.count(1_795_188_600)
    async with account_service(accounts_url, clock=lambda: float(next(moments))) as service:
        ayse = await service.register("ayse@example.com", "Ayşe Demir")
        bo = await service.register("bo@example.com", "Bo")
    await run_sql(
        accounts_url, "UPDATE users SET created_at = '2026-03-02 01:04:05+03', disabled = name = 'Bo'"
    )
    code, printed, said = await command("list", database_url=accounts_url)
    assert (code, said) == (0, "")
    assert printed.splitlines() == [
        f"{ayse.id}  2026-03-01 22:04:05Z  active    ayse@example.com  Ayşe Demir",
        f"{bo.id}  2026-03-01 22:04:05Z  disabled  bo@example.com    Bo",
    ]


async def test_everybody_is_listed_for_machines(accounts_url: str) -> None:
    """The list has a JSON object per line, without the hash."""
    async with account_service(accounts_url) as service:
        user = await service.register()
    await run_sql(accounts_url, "UPDATE users SET created_at = '2026-03-02 01:04:05+03'")
    code, printed, _ = await command("list", "--json", database_url=accounts_url)
    expected = {"id": user.id, "email": user.email, "name": "Ayşe", "disabled": False}
    expected["created_at"] = "2026-03-01T22:04:05Z"
    assert (code, [json.loads(line) for line in printed.splitlines()]) == (0, [expected])


@pytest.mark.parametrize("options", [[], ["--json"]])
async def test_a_name_gives_the_terminal_no_commands(accounts_url: str, options: list[str]) -> None:
    """This holds for escape sequences of 7 and 8 bits, and for reversed writing."""
    async with account_service(accounts_url) as service:
        await service.register()
    dangerous = "\x1b[2m \x9b2m \x7f \u202e"
    await run_sql(accounts_url, f"UPDATE users SET name = 'a{dangerous}b', email = 'c{dangerous}d'")  # noqa: S608 - ours
    _, printed, _ = await command("list", *options, database_url=accounts_url)
    (line,) = printed.removesuffix("\n").split("\n")
    assert line.isprintable()
    assert line.count("[2m") == 2


async def test_more_users_than_a_page_holds_are_listed_once_each(accounts_url: str) -> None:
    """A short last page ends the list too."""
    await run_sql(
        accounts_url,
        "INSERT INTO users (id, name, email, password_hash, token_version, disabled, created_at)"
        " SELECT lpad(to_hex(n), 24, '0'), 'n', n || '@example.com', '', 0, false, now()"
        " FROM generate_series(1, 1001) n",
    )
    _, printed, _ = await command("list", database_url=accounts_url)
    assert [int(line.split()[0], 16) for line in printed.splitlines()] == [*range(1, 1002)]


async def test_who_reads_the_list_may_stop_early(accounts_url: str) -> None:
    """`head` closes the pipe so: the command ends without an error or a message."""
    async with account_service(accounts_url) as service:
        await service.register()
    reading, writing = os.pipe()
    os.close(reading)
    process = await start("list", settings={"database_url": accounts_url}, stdin=DEVNULL, stdout=writing)
    os.close(writing)
    _, said = await process.communicate()
    assert (process.returncode, said) == (0, b"")
