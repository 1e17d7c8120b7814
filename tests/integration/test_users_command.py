"""`quotecast users`, as the real command on a real PostgreSQL."""

import asyncio
import json
import os
import sys
from pathlib import Path

import asyncpg
import pytest

from account_service import PASSWORD, AccountService, account_service
from quotecast.errors import SettingsError
from quotecast.local import users
from quotecast.settings import Settings

OWNED = ("users", "holdings", "watchlist", "layouts", "idempotency_keys")


async def command(*arguments: str, database_url: str, told: str = "") -> tuple[int | None, str, str]:
    """Exit code, what it printed, and what it said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quotecast", "users", *arguments),
        env={**os.environ, "QUOTECAST_DATABASE_URL": database_url},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, said = await process.communicate(told.encode())
    return process.returncode, printed.decode(), said.decode()


async def login(service: AccountService, email: str, password: str) -> int:
    body = {"email": email, "password": password}
    return (await service.client.post("/api/auth/login", json=body)).status_code


async def rows(database_url: str) -> list[int]:
    connection = await asyncpg.connect(database_url)
    counts = [await connection.fetchval(f"SELECT count(*) FROM {table}") for table in OWNED]  # noqa: S608 - ours
    await connection.close()
    return counts


async def test_everybody_is_listed(accounts_url: str) -> None:
    """In the order in which they registered; no hash, and no control character reaches the terminal."""
    async with account_service(accounts_url) as service:
        for number in range(3):
            await service.register(f"user{number}@example.com", f"Ayşe \u202e{number}")
    code, printed, _ = await command("list", database_url=accounts_url)
    assert code == 0
    assert {f"user{number}@example.com" for number in range(3)} <= set(printed.split())
    assert "Ayşe ?2" in printed
    assert "argon2" not in printed
    code, printed, _ = await command("list", "--json", database_url=accounts_url)
    listed = [json.loads(line) for line in printed.splitlines()]
    assert [set(each) for each in listed] == [{"id", "email", "name", "created_at", "disabled"}] * 3


@pytest.mark.parametrize("action", ["disable", "revoke"])
async def test_sessions_end_at_once(accounts_url: str, action: str) -> None:
    """The next request with the old token is refused; who is disabled cannot log in, until enabled."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        code, printed, _ = await command(action, "AYSE@example.com ", database_url=accounts_url)
        assert (code, "ayse@example.com" in printed) == (0, True)
        assert (await user.get("/api/auth/profile")).status_code == 401
        assert await login(service, user.email, PASSWORD) == (401 if action == "disable" else 200)
        await command("enable", user.email, database_url=accounts_url)
        assert await login(service, user.email, PASSWORD) == 200


async def test_a_password_is_replaced(accounts_url: str) -> None:
    """Read from the input, held to the rules; the old one and old tokens are void."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        code, _, said = await command("password", user.email, told="short\n", database_url=accounts_url)
        assert (code, "At least 8 characters" in said) == (1, True)
        assert (await user.get("/api/auth/profile")).status_code == 200
        given = "another password"
        code, printed, said = await command(
            "password", user.email, told=f"{given}\n", database_url=accounts_url
        )
        assert code == 0
        assert given not in printed + said
        assert (await user.get("/api/auth/profile")).status_code == 401
        assert await login(service, user.email, PASSWORD) == 401
        assert await login(service, user.email, given) == 200


async def test_who_is_deleted_leaves_nothing(accounts_url: str) -> None:
    """No row in any table, and the email is free again."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        bought = {"ticker": "AAPL", "shares": 1, "avg_cost": 1}
        await user.post("/api/portfolio/holdings", bought, headers={"Idempotency-Key": "one"})
        await user.post("/api/watchlist", {"ticker": "AAPL"})
        await user.ask("PUT", "/api/terminal/layout", json={"layout": {}})
        code, _, said = await command("delete", user.email, database_url=accounts_url)
        assert (code, "--yes" in said) == (2, True)
        assert await rows(accounts_url) == [1] * 5
        code, _, _ = await command("delete", user.email, "--yes", database_url=accounts_url)
        assert (code, await rows(accounts_url)) == (0, [0] * 5)
        assert (await user.get("/api/auth/profile")).status_code == 401
        await service.register(user.email)


@pytest.mark.parametrize("action", [["disable"], ["enable"], ["password"], ["revoke"], ["delete", "--yes"]])
async def test_an_unknown_email_is_said_to_be_one(accounts_url: str, action: list[str]) -> None:
    name, *options = action
    code, _, said = await command(name, "nobody@example.com", *options, database_url=accounts_url)
    assert (code, said) == (1, "quotecast: Nobody is registered with nobody@example.com\n")


async def test_a_database_without_tables_is_said_to_be_one(database_url: str) -> None:
    code, _, said = await command("list", database_url=database_url)
    assert code == 1
    assert "quotecast migrate" in said


def test_the_database_of_a_running_up_is_found(tmp_path: Path) -> None:
    """By the file in which PostgreSQL tells where its socket is; without one, a line says what to do."""
    settings = Settings(data_dir=tmp_path)
    with pytest.raises(SettingsError, match="start `quotecast up`"):
        users.database_url(settings)
    (tmp_path / "postgres").mkdir()
    told = "1\n/data\n1795190400\n5432\n/run/sockets\n\n"
    (tmp_path / "postgres" / "postmaster.pid").write_text(told)
    assert "host=%2Frun%2Fsockets" in users.database_url(settings)
    assert users.database_url(Settings(database_url="postgresql://db/x")) == "postgresql://db/x"
