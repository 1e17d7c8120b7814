"""`quotecast operators`, and the log of what the shell changed, on a real PostgreSQL."""

import csv
import io
import json

import asyncpg
import pytest

from quotecast.operators.totp import text_of, unseal
from support.servers.users_command import command, process
from support.stages.account_service import SECRET, account_service

EMAIL = "ayse@example.com"


async def operators(*arguments: str, url: str) -> tuple[int | None, str, str]:
    return await command(*arguments, of="operators", database_url=url, jwt_secret=SECRET)


async def log_of(url: str) -> list[dict[str, str]]:
    """Returns the rows of the log, the oldest first."""
    _, printed, _ = await operators("log", "--csv", url=url)
    return [*csv.DictReader(io.StringIO(printed))][::-1]


async def test_operator_is_added_listed_and_removed(accounts_url: str) -> None:
    """Each change is a row of the log, under the name of the machine's user."""
    async with account_service(accounts_url) as service:
        user = await service.register()
    assert (await operators("add", EMAIL, url=accounts_url))[0] == 0
    assert EMAIL in (await operators("list", url=accounts_url))[1]
    [listed] = map(json.loads, (await operators("list", "--json", url=accounts_url))[1].splitlines())
    assert (listed["id"], listed["email"], listed["seen_at"]) == (user.id, EMAIL, None)
    assert (await operators("remove", EMAIL, url=accounts_url))[0] == 0
    assert EMAIL not in (await operators("list", url=accounts_url))[1]
    rows = await log_of(accounts_url)
    assert [(row["via"], row["action"], row["target"]) for row in rows] == [
        ("shell", "operators.add", user.id),
        ("shell", "operators.remove", user.id),
    ]
    assert all(row["actor"] for row in rows)
    _, printed, _ = await operators("log", "--json", url=accounts_url)
    assert [json.loads(line)["action"] for line in printed.splitlines()] == [
        "operators.remove",
        "operators.add",
    ]


async def test_secret_of_codes_is_sealed(accounts_url: str) -> None:
    """The command prints the secret once; PostgreSQL has it sealed only."""
    async with account_service(accounts_url) as service:
        user = await service.register()
    _, printed, _ = await process(
        "add", EMAIL, "--totp", of="operators", database_url=accounts_url, jwt_secret=SECRET
    )
    connection = await asyncpg.connect(accounts_url)
    sealed = await connection.fetchval("SELECT totp FROM operators")
    await connection.close()
    secret = text_of(unseal(sealed, user.id, [SECRET]))
    assert secret in printed
    assert secret not in sealed
    assert secret not in str(await log_of(accounts_url))


@pytest.mark.parametrize("action", ["add", "remove"])
async def test_unknown_user_is_an_error(accounts_url: str, action: str) -> None:
    """Exit code 1, and no row of the log."""
    code, _, said = await operators(action, "nobody@example.com", url=accounts_url)
    assert (code, "nobody@example.com" in said) == (1, True)
    assert await log_of(accounts_url) == []


async def test_changes_of_users_and_keys_are_in_the_log(accounts_url: str) -> None:
    """The log has ids, not emails: a deleted user leaves no name there."""
    async with account_service(accounts_url) as service:
        user = await service.register()
    await command("disable", EMAIL, database_url=accounts_url)
    _, key, _ = await command("create", "--name", "Lobby", of="keys", database_url=accounts_url)
    key_id = key.split("_")[2]
    await command("revoke", key_id, of="keys", database_url=accounts_url)
    await command("set", "silver", "-", of="plans", typed=b"sockets = 5\n", database_url=accounts_url)
    before = await log_of(accounts_url)
    assert [(row["action"], row["target"]) for row in before] == [
        ("users.disable", user.id),
        ("keys.create", key_id),
        ("keys.revoke", key_id),
        ("plans.set", "silver"),
    ]
    await command("delete", "--yes", EMAIL, database_url=accounts_url)
    connection = await asyncpg.connect(accounts_url)
    rows = await connection.fetch("SELECT * FROM operator_actions")
    await connection.close()
    assert EMAIL not in str(rows)
    assert key.strip() not in str(rows)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE operator_actions SET actor = 'nobody'",
        "DELETE FROM operator_actions",
        "TRUNCATE operator_actions",
        "SET session_replication_role = replica; DELETE FROM operator_actions",
    ],
)
async def test_log_cannot_be_altered(accounts_url: str, statement: str) -> None:
    """PostgreSQL refuses every change of a row, also to the owner of the table."""
    connection = await asyncpg.connect(accounts_url)
    await connection.execute(
        "INSERT INTO operator_actions (via, actor, address, action, target, detail, outcome)"
        " VALUES ('shell', 'root', '', 'keys.revoke', '', '', 'done')"
    )
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute(statement)
    await connection.close()
    assert len(await log_of(accounts_url)) == 1
