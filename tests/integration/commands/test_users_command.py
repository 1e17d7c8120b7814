"""`quotecast users`, as the real command on a real PostgreSQL."""

import contextlib
import os
import signal
from asyncio.subprocess import STDOUT, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from quotecast.database import migrations
from support.servers.processes import Postgres
from support.servers.users_command import command, start
from support.stages.account_service import PASSWORD, AccountService, account_service

OWNED = ("users", "holdings", "watchlist", "layouts", "idempotency_keys", "watchlists", "listed_symbols")


class Dialogue:
    """The command on a pseudo-terminal, with a person's input."""

    def __init__(self, process: Process, keyboard: int) -> None:
        self.process = process
        self._keyboard = keyboard

    async def answer(self, question: str, text: str) -> None:
        """Types a line after the prompt."""
        await self.asked(question)
        os.write(self._keyboard, f"{text}\n".encode())

    async def asked(self, question: str) -> None:
        assert self.process.stdout
        await self.process.stdout.readuntil(question.encode())

    async def end(self) -> tuple[int | None, str]:
        """Waits for the end; returns the exit code and the output since the last prompt."""
        said, _ = await self.process.communicate()
        return self.process.returncode, said.decode()


@contextlib.asynccontextmanager
async def at_a_terminal(*arguments: str, database_url: str) -> AsyncIterator[Dialogue]:
    keyboard, terminal = os.openpty()
    # In a session of its own it cannot turn to the terminal at which the tests run.
    apart: dict[str, Any] = {"stdin": terminal, "stderr": STDOUT, "start_new_session": True}
    process = await start(*arguments, settings={"database_url": database_url}, **apart)
    os.close(terminal)
    try:
        yield Dialogue(process, keyboard)
    finally:
        os.close(keyboard)
        if process.returncode is None:
            process.kill()
            await process.wait()


async def login(service: AccountService, email: str, password: str) -> int:
    body = {"email": email, "password": password}
    return (await service.client.post("/api/auth/login", json=body)).status_code


async def rows(database_url: str) -> list[int]:
    connection = await asyncpg.connect(database_url)
    counts = [await connection.fetchval(f"SELECT count(*) FROM {table}") for table in OWNED]  # noqa: S608 - ours
    await connection.close()
    return counts


@pytest.mark.parametrize("action", ["disable", "revoke"])
async def test_sessions_end_at_once(accounts_url: str, action: str) -> None:
    """The next request with the old token fails; a disabled user cannot log in until enabled."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        code, printed, _ = await command(action, "AYSE@example.com ", database_url=accounts_url)
        assert (code, "ayse@example.com" in printed) == (0, True)
        assert (await user.get("/api/auth/profile")).status_code == 401
        assert await login(service, user.email, PASSWORD) == (401 if action == "disable" else 200)
        await command("enable", user.email, database_url=accounts_url)
        assert await login(service, user.email, PASSWORD) == 200


async def test_a_password_is_replaced(accounts_url: str) -> None:
    """The password comes from the input and obeys the rules; the old one and old tokens are invalid."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        code, _, said = await command("password", user.email, typed=b"short\n", database_url=accounts_url)
        assert (code, "Must have at least 8 characters" in said) == (1, True)
        assert (await user.get("/api/auth/profile")).status_code == 200
        given = "another password"
        answer = await command(
            "password", user.email, typed=given.encode() + b"\n", database_url=accounts_url
        )
        assert answer == (0, f"{user.email} has a new password, and is logged out everywhere\n", "")
        assert (await user.get("/api/auth/profile")).status_code == 401
        assert await login(service, user.email, PASSWORD) == 401
        assert await login(service, user.email, given) == 200


@pytest.mark.slow
async def test_a_password_is_asked_for_twice_at_a_terminal(accounts_url: str) -> None:
    """Two different entries change nothing."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        async with at_a_terminal("password", user.email, database_url=accounts_url) as dialogue:
            await dialogue.answer("New password: ", "another password")
            await dialogue.answer("Once more: ", "another passwort")
            code, said = await dialogue.end()
        assert (code, "nothing was changed" in said) == (1, True)
        assert (await user.get("/api/auth/profile")).status_code == 200
        async with at_a_terminal("password", user.email, database_url=accounts_url) as dialogue:
            await dialogue.answer("New password: ", "another password")
            await dialogue.answer("Once more: ", "another password")
            code, said = await dialogue.end()
        assert (code, "logged out everywhere" in said) == (0, True)
        assert await login(service, user.email, "another password") == 200


async def test_a_question_can_be_left(accounts_url: str) -> None:
    """Ctrl-C ends the prompt at once; nothing changes."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        async with at_a_terminal("password", user.email, database_url=accounts_url) as dialogue:
            await dialogue.asked("New password: ")
            dialogue.process.send_signal(signal.SIGINT)
            assert await dialogue.end() == (1, "quotecast: Interrupted\n")
        assert (await user.get("/api/auth/profile")).status_code == 200


async def test_bytes_that_are_no_text_are_refused(accounts_url: str) -> None:
    """Invalid UTF-8 in an email or a password gives a one-line error."""
    async with account_service(accounts_url) as service:
        user = await service.register()
    answer = await command("disable", b"ay\xffse@example.com", database_url=accounts_url)
    assert answer == (1, "", "quotecast: email: Must be UTF-8\n")
    answer = await command("password", user.email, typed=b"another\xffpassword\n", database_url=accounts_url)
    assert answer == (1, "", "quotecast: password: Must be UTF-8\n")


async def test_who_is_deleted_leaves_nothing(accounts_url: str) -> None:
    """No row stays in any table, and the email is free again."""
    async with account_service(accounts_url) as service:
        user = await service.register()
        bought = {"ticker": "AAPL", "shares": 1, "avg_cost": 1}
        await user.post("/api/portfolio/holdings", bought, headers={"Idempotency-Key": "one"})
        await user.post("/api/watchlist", {"ticker": "AAPL"})
        listed = {"name": "Other", "symbols": [{"ticker": "AAPL", "type": "stock"}]}
        await user.post("/api/watchlists", listed)
        await user.ask("PUT", "/api/terminal/layout", json={"layout": {}})
        code, _, said = await command("delete", user.email, database_url=accounts_url)
        assert (code, "--yes" in said) == (2, True)
        assert await rows(accounts_url) == [1] * len(OWNED)
        code, _, _ = await command("delete", user.email, "--yes", database_url=accounts_url)
        assert (code, await rows(accounts_url)) == (0, [0] * len(OWNED))
        assert (await user.get("/api/auth/profile")).status_code == 401
        await service.register(user.email)


@pytest.mark.slow
async def test_at_a_terminal_the_email_confirms_a_deletion(accounts_url: str) -> None:
    """Case does not matter; any other text deletes nothing."""
    async with account_service(accounts_url) as service:
        user = await service.register()
    for typed, outcome in (("yes", (1, 1)), (user.email.upper(), (0, 0))):
        async with at_a_terminal("delete", user.email, database_url=accounts_url) as dialogue:
            await dialogue.answer("confirm:\n", typed)
            code, _ = await dialogue.end()
        assert (code, (await rows(accounts_url))[0]) == outcome


@pytest.mark.parametrize("action", [["disable"], ["enable"], ["password"], ["revoke"], ["delete", "--yes"]])
async def test_an_unknown_email_is_said_to_be_one(accounts_url: str, action: list[str]) -> None:
    """The error is one line, before the prompt for a password."""
    name, *options = action
    code, _, said = await command(name, "nobody@example.com", *options, database_url=accounts_url)
    assert (code, said) == (1, "quotecast: Nobody is registered with nobody@example.com\n")


async def test_a_database_without_tables_is_said_to_be_one(database_url: str) -> None:
    """The one-line error names the command that helps."""
    answer = await command("list", database_url=database_url)
    assert answer == (1, "", "quotecast: The database has no tables yet: run `quotecast migrate`\n")


async def test_a_database_that_does_not_answer_is_said_to_be_one(tmp_path: Path) -> None:
    """The one-line error names the address, but not the password."""
    url = f"postgresql://somebody:canary@/x?host={tmp_path}"
    code, printed, said = await command("list", database_url=url)
    assert (code, printed, said.count("\n")) == (1, "", 1)
    assert "does not answer" in said
    assert "canary" not in said


async def test_the_database_of_a_running_up_is_used(
    tmp_path: Path, own_postgres: Postgres, accounts_url: str
) -> None:
    """The command finds the running `up`; after its end, even by a crash, an error says how to go on."""
    await migrations.apply(own_postgres.url)
    async with account_service(own_postgres.url) as service:
        user = await service.register()
    cluster = own_postgres._cluster
    (tmp_path / "postgres").symlink_to(cluster)
    here: dict[str, Any] = {"database_url": "", "data_dir": str(tmp_path)}
    code, printed, _ = await command("list", **here)
    assert (code, user.email in printed) == (0, True)
    assert await command("list", **{**here, "database_url": accounts_url}) == (0, "", "")
    content = (cluster / "postmaster.pid").read_text()
    own_postgres.kill()
    without_file = await command("list", **here)
    (cluster / "postmaster.pid").write_text(content)
    assert await command("list", **here) == without_file
    code, printed, said = without_file
    assert (code, printed, said.count("\n")) == (2, "", 1)
    assert "start `quotecast up`" in said
