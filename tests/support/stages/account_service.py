"""Account routes over a real PostgreSQL, in this process."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import asyncpg
import httpx
from argon2 import PasswordHasher

from quotecast.access.plans import Plan
from quotecast.access.shared import SharedAccess
from quotecast.api.accounts.key_access import KeyAccess
from quotecast.api.accounts.logins import LoginWindow
from quotecast.api.gate.addresses import identify_by_address
from quotecast.api.gate.identity import identify_by_user, valid_claims
from quotecast.api.gate.operators import Admin
from quotecast.api.limits.throttle import Throttle
from quotecast.api.market.services import Accounts
from quotecast.api.views.delayed import DelayedMarket
from quotecast.api.views.views import Views
from quotecast.api.worker.composition import make_gate, make_middleware
from quotecast.database.database import Database
from quotecast.limits.decision import Decision
from quotecast.limits.fallback import LocalWindow
from quotecast.settings.model import Settings
from quotecast.users.passwords import Passwords
from quotecast.users.tokens import Tokens
from support.made.factories import NOW, app_of, client_to, full_mirrors, private_of, services

SECRET: Final = "a secret of tests, known to everybody"
PASSWORD: Final = "correct horse battery"
LIMITS: Final = {
    "auth": 10,
    "market": 120,
    "crypto": 120,
    "doviz": 120,
    "financials": 30,
    "portfolio": 60,
    "watchlist": 60,
    "alerts": 60,
    "terminal": 60,
    "admin": 120,
}
SETTINGS: Final = Settings(trusted_proxies=("127.0.0.1",))
#: Longer than any machine takes for a query; only tests of outages set less.
PATIENCE_SECONDS: Final = 15.0
#: The cheapest hash that the library allows: most tests are not about hashing.
FAST: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class LocalLimits:
    """A rate-limit window of one process, with the interface of the shared one."""

    def __init__(self, seconds: int = 60) -> None:
        self.window = LocalWindow(seconds)

    async def check(self, key: str, limit: int) -> Decision:
        return self.window.check(key, limit)

    async def forget(self, key: str) -> None:
        self.window.forget(key)

    async def give_back(self, key: str) -> None:
        self.window.give_back(key)


class User:
    """A registered user."""

    def __init__(self, client: httpx.AsyncClient, session: dict[str, Any]) -> None:
        self._client = client
        self.token: str = session["token"]
        self.id: str = session["user"]["id"]
        self.email: str = session["user"]["email"]

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}", **more.pop("headers", {})}
        return await self._client.request(method, path, headers=headers, **more)

    async def get(self, path: str, **more: Any) -> httpx.Response:
        return await self.ask("GET", path, **more)

    async def post(self, path: str, body: Any, **more: Any) -> httpx.Response:
        return await self.ask("POST", path, json=body, **more)

    async def delete(self, path: str, **more: Any) -> httpx.Response:
        return await self.ask("DELETE", path, **more)


class AccountService:
    """A client of the account routes, with their database and services."""

    def __init__(self, client: httpx.AsyncClient, accounts: Accounts) -> None:
        self.client = client
        self.accounts = accounts

    async def register(self, email: str = "ayse@example.com", name: str = "Ayşe") -> User:
        body = {"name": name, "email": email, "password": PASSWORD}
        response = await self.client.post("/api/auth/register", json=body)
        assert response.status_code == 201, response.text
        return User(self.client, response.json())


@contextlib.asynccontextmanager
async def account_service(
    database_url: str,
    *,
    limited: bool = False,
    hasher: PasswordHasher = FAST,
    deadline_seconds: float = PATIENCE_SECONDS,
    plans: Mapping[str, Plan] = {},
    admin: Admin | None = None,
    delayed: DelayedMarket | None = None,
    **other: Any,
) -> AsyncIterator[AccountService]:
    """Yields account routes behind the gate.

    `other` replaces services of `factories.parts`; mirrors are full by default.
    """
    clock = other.setdefault("clock", lambda: NOW)
    async with (
        Database(database_url, pool_size=4, deadline_seconds=deadline_seconds) as database,
        Passwords(hasher) as passwords,
    ):
        accounts = Accounts(
            database=database,
            tokens=Tokens([SECRET], lifetime_seconds=7 * 86_400, clock=clock),
            passwords=passwords,
            logins=LoginWindow(LocalLimits(900), SECRET),
            keys=KeyAccess(database, SharedAccess("redis://127.0.0.1:1", "test"), plans, wall_clock=clock),
            address_of=identify_by_address(SETTINGS.trusted_proxies),
        )
        made = services(other.pop("mirrors", None) or full_mirrors(), accounts=accounts, **other)
        requests = LocalLimits()
        limits = Throttle(
            requests.check,
            requests.give_back,
            limits=LIMITS,
            find=made.names.find,
            identify=identify_by_user(accounts.tokens, accounts.address_of),
            by_address=accounts.address_of,
        )
        app = app_of(made, admin=admin, throttle=limits if limited else None)
        gate = make_gate(
            app,
            app.state.table,
            SETTINGS,
            finder=accounts.keys,
            usage=accounts.keys.usage,
            plans=plans,
            views=Views(made, delayed),
            claims_of=valid_claims(accounts.tokens),
            clock=clock,
        )
        async with client_to(make_middleware(gate, private_of(app), SETTINGS)) as client:
            yield AccountService(client, accounts)


async def count_rows(database_url: str, table: str) -> int:
    """Returns the number of rows in a table."""
    connection = await asyncpg.connect(database_url)
    try:
        return int(await connection.fetchval(f"SELECT count(*) FROM {table}"))  # noqa: S608 - a name of a test
    finally:
        await connection.close()
