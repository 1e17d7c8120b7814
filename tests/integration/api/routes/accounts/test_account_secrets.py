"""No password, hash, token or secret leaves by an answer, a log or a trace."""

import io
import logging
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import structlog
from argon2 import PasswordHasher

from quotecast.api.routes.accounts.auth import Credentials, Registration
from quotecast.api.routes.accounts.signed_in import Profile, Session
from quotecast.database import migrations
from quotecast.observe.logs import configure_logs
from quotecast.users import users
from quotecast.users.users import UserRow
from support.made.forged_tokens import FORGERIES, split_token
from support.oracles.transactions import query_server
from support.servers.processes import Postgres
from support.stages.account_service import SECRET, AccountService, account_service

REGISTER = "/api/auth/register"
LOGIN = "/api/auth/login"
PROFILE = "/api/auth/profile"
CANARY = "canary in a coal mine"
AYSE = {"name": "Ayşe", "email": "ayse@example.com", "password": CANARY}
#: Shorter than one may be, and found all the same.
SHORT = "canary"


class Said:
    """All answers, logs and traces so far."""

    def __init__(self, logs: io.StringIO, caplog: pytest.LogCaptureFixture) -> None:
        self._logs = logs
        self._caplog = caplog
        self.answers: list[str] = []

    def logged(self) -> str:
        return self._logs.getvalue() + self._caplog.text

    def note(self, response: httpx.Response) -> httpx.Response:
        self.answers.append(f"{response.headers} {response.text}")
        return response


@pytest.fixture(params=[True, False], ids=["json", "readable"])
def said(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[Said]:
    """Yields the output with production or terminal logs, including those of libraries."""
    logs = io.StringIO()
    monkeypatch.setattr(sys, "stderr", logs)
    configure_logs(level="debug", as_json=request.param)
    caplog.set_level(logging.DEBUG)
    yield Said(logs, caplog)
    structlog.reset_defaults()


@pytest.fixture
async def url(own_postgres: Postgres) -> str:
    """A migrated database in a server of the test's own."""
    await migrations.apply(own_postgres.url)
    return own_postgres.url


async def ask(service: AccountService, said: Said, method: str, path: str, **more: Any) -> httpx.Response:
    return said.note(await service.client.request(method, path, **more))


async def everything(service: AccountService, said: Said, token: str) -> None:
    """Requests with passwords, tokens and similar secrets."""
    bodies: list[dict[str, Any]] = [
        AYSE,
        {**AYSE, "password": "wrong canary"},
        {**AYSE, "email": "canary"},
        {**AYSE, "password": SHORT},
        {**AYSE, "password": [CANARY]},
        {**AYSE, "password": {CANARY: CANARY}},
        {**AYSE, "password": CANARY * 20},
        {"password": CANARY},
    ]
    for path in (REGISTER, LOGIN):
        for body in bodies:
            await ask(service, said, "POST", path, json=body)
        await ask(service, said, "POST", path, content=f'{{"password": "{CANARY}"'.encode())
        await ask(service, said, "POST", path, content=f'"{CANARY}"'.encode())
        await ask(service, said, "GET", path, params={"password": CANARY})
    for header in (f"Bearer {token}", f"Basic {token}", f"Bearer {token}x", f"Bearer {token},{token}"):
        for path in (PROFILE, "/api/market/quotes", "/api/nothing"):
            await ask(service, said, "GET", path, headers={"authorization": header})


def holds(text: str, *secrets: str) -> list[str]:
    return [secret for secret in secrets if secret in text]


async def test_no_answer_and_no_log_holds_a_secret(url: str, said: Said, own_postgres: Postgres) -> None:
    """While all is well, and while PostgreSQL is gone."""
    async with account_service(url) as service:
        session = (await service.client.post(REGISTER, json=AYSE)).json()
        token = session["token"]
        (row,) = await query_server(url, "SELECT password_hash FROM users")
        secrets = (CANARY, SHORT, row["password_hash"], row["password_hash"].rpartition("$")[2], SECRET)
        await everything(service, said, token)
        own_postgres.kill()
        await everything(service, said, token)
        assert sum("503" in answer or "unavailable" in answer for answer in said.answers) > 1
        logged = said.logged()
    assert "database is unavailable" in logged
    assert holds(logged, token, token.rpartition(".")[2], *secrets) == []
    # A login answers a new token, and no other secret.
    assert holds("\n".join(said.answers), token, *secrets) == []


async def test_no_log_of_a_bug_holds_a_secret(
    accounts_url: str, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace names functions and lines, without arguments."""

    def fail(*_: object, **__: object) -> bool:
        raise RuntimeError("a bug")

    async with account_service(accounts_url) as service:
        user = (await service.client.post(REGISTER, json=AYSE)).json()
        monkeypatch.setattr(PasswordHasher, "verify", fail)
        response = await ask(service, said, "POST", LOGIN, json=AYSE)
    assert (response.status_code, response.json()["detail"]) == (500, "Internal Server Error")
    logged = said.logged()
    assert "a bug" in logged
    assert holds(logged + response.text, CANARY, SHORT, user["token"], SECRET, "$argon2") == []


async def test_no_log_of_a_refused_row_holds_it(own_accounts_url: str, said: Said) -> None:
    """PostgreSQL quotes the whole row, hash and all; here the table is stricter than the code."""
    await query_server(own_accounts_url, "ALTER TABLE users ADD CONSTRAINT no_ayse CHECK (name <> 'Ayşe')")
    async with account_service(own_accounts_url) as service:
        response = await ask(service, said, "POST", REGISTER, json=AYSE)
    assert response.status_code == 500
    logged = said.logged()
    assert "no_ayse" in logged
    assert holds(logged + response.text, CANARY, SHORT, "$argon2", AYSE["email"]) == []
    assert "no_ayse" not in response.text


async def test_no_forged_token_is_repeated(accounts_url: str, said: Said) -> None:
    """A forged token is in no answer and no log: it may be a valid one with a typing error."""
    async with account_service(accounts_url) as service:
        session = (await service.client.post(REGISTER, json=AYSE)).json()
        good = split_token(session["token"], SECRET)
        for forged in FORGERIES.values():
            token = forged(good)
            raw = token if isinstance(token, bytes) else token.encode()
            await ask(service, said, "GET", PROFILE, headers=[(b"authorization", b"Bearer " + raw)])
    assert not re.search(r"eyJ[\w-]{10,}", said.logged() + "\n".join(said.answers))


@pytest.mark.parametrize("shown", [repr, str, "{0!r:>5}".format, lambda value: f"{[value]}"])
async def test_nothing_that_is_printed_holds_a_secret(accounts_url: str, shown: Any) -> None:
    """The repr of a struct omits its secret."""
    async with account_service(accounts_url) as service:
        session = (await service.client.post(REGISTER, json=AYSE)).json()
        row = await service.accounts.database.transaction(lambda run: users.find(run, email=AYSE["email"]))
        assert isinstance(row, UserRow)
        things: list[object] = [
            row,
            Registration(**AYSE),
            Credentials(AYSE["email"], CANARY),
            Session(session["token"], Profile.of(row)),
            service.accounts,
            service.accounts.database,
            service.accounts.tokens,
            service.accounts.passwords,
        ]
        text = "\n".join(shown(thing) for thing in things)
        assert holds(text, CANARY, session["token"], row.password_hash, SECRET, accounts_url) == []
        # They are still distinct.
        assert all(name in text for name in ("UserRow", "Registration", "Credentials", "Session", row.id))


async def test_no_trace_of_an_error_holds_a_secret(accounts_url: str) -> None:
    """A printed error with its causes contains no secret."""
    async with account_service(accounts_url) as service:
        token = service.accounts.tokens.issue("019a9c3f5b2d4f6a8c0e1b2d", 0, "019a9c3f5b2d4f6a8c0e1b2e")
        for bad in (f"{token}x", token[:-4], f"{token}.{token}"):
            with pytest.raises(Exception, match="Invalid or expired token") as raised:
                service.accounts.tokens.read(bad)
            text = "".join(traceback.format_exception(raised.value))
            assert holds(text, token, token.partition(".")[2], SECRET) == []
