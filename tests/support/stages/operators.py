"""The operator's routes over a real PostgreSQL, in this process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, Final

import asyncpg
import httpx

from quotecast.access.plans import Plan
from quotecast.api.gate.operators import Admin
from quotecast.database.database import Run
from quotecast.operators import storage, totp
from quotecast.operators.reports.model import Report
from quotecast.operators.tokens import OperatorTokens
from quotecast.operators.totp import seal
from support.made.factories import NOW
from support.stages.account_service import PASSWORD, SECRET, AccountService, User, account_service

EMAIL: Final = "ops@example.com"
#: The secret of the operator's codes.
CODES: Final = b"12345678901234567890"


class FixedReports:
    """Reports that a test gives; without any, Redis does not answer."""

    def __init__(self) -> None:
        self.reports: list[Report] | None = []

    async def all(self) -> list[Report]:
        if self.reports is None:
            raise TimeoutError
        return self.reports


class Operations:
    """A service with the operator's routes; `at` is its Unix time."""

    def __init__(
        self, service: AccountService, url: str, at: dict[str, float], reports: FixedReports
    ) -> None:
        self.service = service
        self.client = service.client
        self.url = url
        self._at = at
        self.reports = reports

    def pass_time(self, seconds: float) -> None:
        self._at["now"] += seconds

    @property
    def code(self) -> str:
        """The present code of an operator with codes."""
        return totp.code_of(CODES, int(self._at["now"]) // totp.STEP_SECONDS)

    async def operator(self, email: str = EMAIL, *, with_codes: bool = False) -> User:
        """Registers a user, and makes them an operator."""
        user = await self.service.register(email)
        sealed = seal(CODES, user.id, SECRET) if with_codes else None

        async def write(run: Run) -> None:
            await storage.add(run, user.id, sealed, datetime.now(UTC))

        await self.service.accounts.database.transaction(write)
        return user

    async def login(
        self, email: str = EMAIL, password: str = PASSWORD, code: str = "", **headers: str
    ) -> httpx.Response:
        body = {"email": email, "password": password, "code": code}
        return await self.client.post("/api/admin/login", json=body, headers=headers)

    async def signed_in(self, email: str = EMAIL, code: str = "") -> "Session":
        answer = await self.login(email, code=code)
        assert answer.status_code == 200, answer.text
        return Session(self.client, answer.json()["token"])

    async def rows(self) -> list[tuple[str, str, str, str]]:
        """Returns action, target, detail and outcome of the log, once all failed logins are in it."""
        await settle()
        connection = await asyncpg.connect(self.url)
        try:
            found = await connection.fetch("SELECT * FROM operator_actions ORDER BY id")
        finally:
            await connection.close()
        return [(row["action"], row["target"], row["detail"], row["outcome"]) for row in found]


class Session:
    """The session of an operator."""

    def __init__(self, client: httpx.AsyncClient, token: str) -> None:
        self._client = client
        self.token = token

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self._ask("GET", path, headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        return await self._ask("POST", path, headers, **({} if body is None else {"json": body}))

    async def _ask(self, method: str, path: str, headers: dict[str, str], **more: Any) -> httpx.Response:
        given = {"authorization": f"Bearer {self.token}", **headers}
        return await self._client.request(method, f"/api/admin{path}", headers=given, **more)


async def settle() -> None:
    """Waits for the tasks that write failed logins."""
    for task in asyncio.all_tasks():
        if "_note_failure" in repr(task.get_coro()):
            await task


@contextlib.asynccontextmanager
async def operations(
    url: str, *, plans: dict[str, Plan] | None = None, clock: Callable[[], float] | None = None, **other: Any
) -> AsyncIterator[Operations]:
    at = {"now": NOW}
    reports = FixedReports()
    now = clock or (lambda: at["now"])
    admin = Admin(tokens=OperatorTokens([SECRET], now), secrets=[SECRET], plans=plans or {}, reports=reports)
    async with account_service(url, admin=admin, plans=plans or {}, clock=now, **other) as service:
        yield Operations(service, url, at, reports)
