"""Account routes while PostgreSQL dies, freezes and comes back, and while clients go away."""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest

from quotecast.database import migrations
from quotecast.database.database import DEADLINE_SECONDS
from support.oracles.transactions import PROMISED_SECONDS, check_pool, query_server, until_idle
from support.runs.deadlines import scaled
from support.runs.waits import until
from support.servers.processes import Postgres
from support.stages.account_service import PASSWORD, AccountService, User, account_service

pytestmark = pytest.mark.slow

REGISTER = "/api/auth/register"
LOGIN = "/api/auth/login"
PROFILE = "/api/auth/profile"
QUOTES = "/api/market/quotes?symbols=AAPL"
#: The connections that `account_service` has.
POOL = 4
#: How long after PostgreSQL is back accounts may still be away.
RECOVERY_SECONDS = 3.0
#: Long enough for many failed writes.
OUTAGE_SECONDS = 3.0


@pytest.fixture
async def url(own_postgres: Postgres) -> str:
    """A migrated database in a server of the test's own."""
    await migrations.apply(own_postgres.url)
    return own_postgres.url


@pytest.fixture
async def service(url: str) -> AsyncIterator[AccountService]:
    async with account_service(url, deadline_seconds=DEADLINE_SECONDS) as service:
        yield service


def every_route(service: AccountService, user: User) -> list[asyncio.Task[httpx.Response]]:
    """One request of each, all at once."""
    new = {"name": "Fatma", "email": "fatma@example.com", "password": PASSWORD}
    calls = [
        service.client.post(REGISTER, json=new),
        service.client.post(LOGIN, json={"email": user.email, "password": PASSWORD}),
        service.client.post(LOGIN, json={"email": "nobody@example.com", "password": PASSWORD}),
        user.get(PROFILE),
        user.ask("PATCH", PROFILE, json={"name": "Fatma"}),
    ]
    return [asyncio.create_task(call) for call in calls]


def is_away(response: httpx.Response) -> bool:
    """Returns whether the answer is that of an outage."""
    assert response.json()["detail"] == "Account data is temporarily unavailable"
    assert response.json()["code"] == "database"
    assert response.headers["retry-after"] == "1"
    return response.status_code == 503


async def recovered(user: User) -> float:
    """Returns the seconds until a write succeeds again."""
    began = time.monotonic()
    async with asyncio.timeout(scaled(10)):
        while True:
            if (await user.ask("PATCH", PROFILE, json={"name": "Fatma"})).status_code == 200:
                return time.monotonic() - began
            await asyncio.sleep(0.02)


async def test_accounts_say_in_time_that_postgres_is_frozen(
    own_postgres: Postgres, url: str, service: AccountService
) -> None:
    """Every route within two seconds; the markets do not notice; afterwards the pool is whole."""
    user = await service.register()
    own_postgres.freeze()
    began = time.monotonic()
    asked = every_route(service, user)
    assert (await service.client.get(QUOTES)).status_code == 200
    assert all(map(is_away, await asyncio.gather(*asked)))
    assert time.monotonic() - began < scaled(PROMISED_SECONDS)
    own_postgres.thaw()
    assert await recovered(user) < scaled(RECOVERY_SECONDS)
    await check_pool(service.accounts.database, POOL)
    await until_idle(url, at_most=POOL)


async def test_accounts_come_back_with_postgres(own_postgres: Postgres, service: AccountService) -> None:
    """Accounts recover with PostgreSQL without a restart; until then they answer 503 at once."""
    user = await service.register()
    await check_pool(service.accounts.database, POOL)
    await asyncio.to_thread(own_postgres.kill)
    began = time.monotonic()
    for _ in range(3):
        assert all(map(is_away, await asyncio.gather(*every_route(service, user))))
    assert time.monotonic() - began < scaled(PROMISED_SECONDS)
    assert (await service.client.get(QUOTES)).status_code == 200
    await asyncio.to_thread(own_postgres.start)
    assert await recovered(user) < scaled(RECOVERY_SECONDS)
    await check_pool(service.accounts.database, POOL)


async def test_an_outage_uses_up_nobodys_attempts(own_postgres: Postgres, service: AccountService) -> None:
    """An outage uses up no login attempts."""
    user = await service.register()
    await asyncio.to_thread(own_postgres.kill)
    body = {"email": user.email, "password": PASSWORD}
    for _ in range(20):
        assert is_away(await service.client.post(LOGIN, json=body))
    await asyncio.to_thread(own_postgres.start)
    assert await recovered(user) < scaled(RECOVERY_SECONDS)
    assert (await service.client.post(LOGIN, json=body)).status_code == 200


class Writers:
    """Users who register and rename themselves without a pause, and the answers they got."""

    def __init__(self, service: AccountService, outage_over: Callable[[], bool]) -> None:
        self._service = service
        self._over = outage_over
        self.statuses: Counter[int] = Counter()
        #: Emails of which registering was acknowledged.
        self.registered: list[str] = []
        #: By email: the last acknowledged number, and the first untried one.
        self.renamed: dict[str, int] = {}

    async def register(self, name: str) -> None:
        number = 0
        while not self._over():
            number += 1
            email = f"{name}.{number}@example.com"
            body = {"name": name, "email": email, "password": PASSWORD}
            if await self._told(self._service.client.post(REGISTER, json=body)) == 201:
                self.registered.append(email)

    async def rename(self, user: User) -> None:
        number = 0
        while not self._over():
            number += 1
            if await self._told(user.ask("PATCH", PROFILE, json={"name": str(number)})) == 200:
                self.renamed[user.email] = number

    async def read(self) -> None:
        while not self._over():
            assert (await self._service.client.get(QUOTES)).status_code == 200
            await asyncio.sleep(0.005)

    async def _told(self, request: Awaitable[httpx.Response]) -> int:
        began = time.monotonic()
        status = (await request).status_code
        assert time.monotonic() - began < scaled(PROMISED_SECONDS)
        self.statuses[status] += 1
        # A client waits for `Retry-After`.
        await asyncio.sleep(0.02 if status == 503 else 0)
        return status


async def test_what_was_acknowledged_survives_a_crash(
    own_postgres: Postgres, url: str, service: AccountService
) -> None:
    """Every acknowledged write survives a crash of PostgreSQL; market reads go on."""
    over = asyncio.Event()
    writers = Writers(service, over.is_set)
    users = [await service.register(f"{number}@example.com") for number in range(3)]
    bystander = await service.register()
    async with asyncio.TaskGroup() as group:
        for user in users:
            group.create_task(writers.rename(user))
            group.create_task(writers.register(f"new.{user.id}"))
        group.create_task(writers.read())
        await asyncio.sleep(0.5)
        await until(lambda: {200, 201} <= writers.statuses.keys())
        await asyncio.to_thread(own_postgres.kill)
        await asyncio.sleep(OUTAGE_SECONDS)
        await until(lambda: 503 in writers.statuses)
        await asyncio.to_thread(own_postgres.start)
        assert await recovered(bystander) < scaled(RECOVERY_SECONDS)
        over.set()
    assert set(writers.statuses) == {200, 201, 503}
    rows = {row["email"]: row["name"] for row in await query_server(url, "SELECT email, name FROM users")}
    assert set(writers.registered) <= set(rows)
    # An unacknowledged later write may be stored too.
    assert all(int(rows[email]) >= number for email, number in writers.renamed.items())


async def test_clients_that_go_away_cost_no_connection(accounts_url: str) -> None:
    """Clients that disconnect at any moment leave the pool whole."""
    moments = random.Random(21)
    async with account_service(accounts_url, deadline_seconds=DEADLINE_SECONDS) as service:
        users = [await service.register(f"{number}@example.com", str(number)) for number in range(4)]
        for _ in range(25):
            asked = [request for user in users for request in every_route(service, user)]
            await asyncio.sleep(moments.uniform(0, 0.03))
            for request in asked:
                request.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*asked, return_exceptions=True)
            answers = await asyncio.gather(*(user.get(PROFILE) for user in users))
            assert [each.json()["id"] for each in answers] == [user.id for user in users]
        await check_pool(service.accounts.database, POOL)
        await until_idle(accounts_url, at_most=POOL)
