"""Feeds of users who are logged in, on two workers, where users have another plan than everybody."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from quotecast.database import migrations
from quotecast.database.database import Database
from quotecast.users import users
from support.runs.waits import wait_until
from support.servers.processes import running_postgres, running_valkey
from support.servers.service import FeedClient, Service

PLANS: Final = """
[plans.anonymous]
feeds = ["doviz"]

[plans.user]
sockets = 4
symbols = 3
"""
PASSWORD: Final = "correct horse battery"
FEED: Final = "/api/ws/crypto?symbols=BTC-USDT"
STREAM: Final = "/api/sse/crypto?symbols=BTC-USDT"


class Login:
    """A user with a session of their own."""

    def __init__(self, service: Service, email: str) -> None:
        self._service = service
        self.email = email
        given = {"name": "Ayşe", "email": email, "password": PASSWORD}
        self.token: str = service.post("/api/auth/register", json=given).json()["token"]

    @property
    def header(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def ticket(self) -> str:
        made = self._service.post("/api/auth/ticket", headers=self.header)
        assert (made.status_code, made.headers["cache-control"]) == (200, "no-store")
        ticket: str = made.json()["ticket"]
        return ticket

    def open(self, stack: ExitStack, path: str = FEED) -> FeedClient:
        return stack.enter_context(self._service.feed(f"{path}&ticket={self.ticket()}"))

    def end_sessions(self) -> None:
        left = self._service.patch("/api/auth/profile", headers=self.header, json={"end_sessions": True})
        assert left.status_code == 200


@pytest.fixture(scope="module")
def database_url() -> Iterator[str]:
    with running_postgres() as postgres:
        asyncio.run(migrations.apply(postgres.url))
        yield postgres.url


@pytest.fixture(scope="module")
def service(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    plans: Path = tmp_path_factory.mktemp("plans") / "plans.toml"
    plans.write_text(PLANS)
    with running_valkey() as valkey:
        settings = {"QUOTECAST_DATABASE_URL": database_url, "QUOTECAST_PLANS": str(plans)}
        with Service(valkey, {**settings, "QUOTECAST_LIMITS": "off"}) as running:
            running.start("ingest", "api", "api")
            yield running


@pytest.fixture
def login(service: Service) -> Login:
    return Login(service, f"user{time.monotonic_ns()}@example.com")


def ended(client: FeedClient) -> tuple[dict[str, Any], int | None]:
    """Returns the last error of a socket, and its close code."""
    error = client.next_of("error")
    return error, client.closed()


def test_a_login_opens_feeds_that_everybody_has_not(service: Service, login: Login) -> None:
    with ExitStack() as stack:
        error, code = ended(stack.enter_context(service.feed(FEED)))
        assert (error["detail"], code) == ('Plan "anonymous" includes doviz only', 4403)
        for client in (
            login.open(stack),
            stack.enter_context(service.feed(FEED, additional_headers=login.header)),
        ):
            assert client.next()["limits"] == {"symbols": 3}
            assert len(client.next_of("snapshot")["data"]) == 1


def test_the_socket_of_all_feeds_names_the_plan(service: Service) -> None:
    """A feed that the plan leaves out is another thing than one without a provider."""
    with service.feed("/api/ws?market=AAPL&doviz=USD") as client:
        error = client.next_of("error")
        assert (error["code"], error["detail"]) == (403, 'Plan "anonymous" includes doviz only')
        assert client.next_of("subscribed")["feed"] == "doviz"


def test_a_login_opens_an_event_stream(service: Service, login: Login) -> None:
    assert service.get(STREAM).json()["code"] == "plan_feeds"
    for headers, path in ((login.header, STREAM), ({}, f"{STREAM}&ticket={login.ticket()}")):
        with httpx.stream("GET", service.url + path, headers=headers) as stream:
            assert stream.status_code == 200
            assert next(line for line in stream.iter_lines() if '"welcome"' in line)


def test_a_ticket_opens_one_feed(service: Service, login: Login) -> None:
    path = f"{FEED}&ticket={login.ticket()}"
    with service.feed(path) as client:
        assert client.next()["type"] == "welcome"
    with service.feed(path) as again:
        assert ended(again)[1] == 4401


def test_a_token_is_needed_for_a_ticket(service: Service, login: Login) -> None:
    assert service.post("/api/auth/ticket").json()["code"] == "not_authenticated"
    login.end_sessions()
    refused = service.post("/api/auth/ticket", headers=login.header)
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_token")


def test_the_end_of_a_session_ends_its_feeds_on_every_worker(service: Service, login: Login) -> None:
    """Another user's feed goes on; a ticket of the ended session opens nothing."""
    other = Login(service, f"other{time.monotonic_ns()}@example.com")
    with ExitStack() as stack:
        clients, bystander = [login.open(stack) for _ in range(4)], other.open(stack)
        for client in (*clients, bystander):
            client.next_of("snapshot")
        ticket = login.ticket()
        login.end_sessions()
        for client in clients:
            error, code = ended(client)
            assert (error["detail"], code) == ("The session of this user ended; connect again", 4452)
        assert ended(stack.enter_context(service.feed(f"{FEED}&ticket={ticket}")))[1] == 4452
        # A worker that only gave the ticket learns of the end within half a second: it opens and ends a feed.
        while (
            code := ended(stack.enter_context(service.feed(FEED, additional_headers=login.header)))[1]
        ) != 4401:
            assert code == 4452
        assert bystander.next_of("update")


def test_the_end_of_a_session_ends_its_reads_on_every_worker(service: Service, login: Login) -> None:
    """A token is good for a week, and its session may end before."""

    def answers() -> set[int]:
        """Returns the statuses of reads over many connections, which both workers accept."""
        return {service.get("/api/crypto/symbols", headers=login.header).status_code for _ in range(20)}

    assert answers() == {200}
    login.end_sessions()
    wait_until(lambda: answers() == {403}, "the token is still good", pause=0.1)


def test_a_disabled_user_has_no_feeds(login: Login, database_url: str) -> None:
    async def disable() -> None:
        async with Database(database_url, pool_size=1, statement_cache=0) as database:
            await database.transaction(partial(users.set_disabled, email=login.email, disabled=True))

    with ExitStack() as stack:
        client = login.open(stack)
        client.next_of("snapshot")
        asyncio.run(disable())
        assert ended(client)[1] == 4452


def test_sockets_of_a_session_are_counted_over_both_workers(login: Login) -> None:
    with ExitStack() as stack:
        for _ in range(4):
            assert login.open(stack).next()["type"] == "welcome"
        error, code = ended(login.open(stack))
        assert (error["detail"], code) == ('Plan "user" has at most 4 sockets and event streams', 4453)


def test_feeds_of_users_leave_no_usage_of_keys(service: Service, login: Login) -> None:
    """A key is counted; a session has no row that the counts could name."""
    with ExitStack() as stack:
        login.open(stack).next_of("snapshot")
        key = service.post("/api/keys", headers=login.header, json={"name": "Ticker"}).json()
        assert service.get("/api/crypto/symbols", headers={"X-API-Key": key["secret_key"]}).status_code == 200
        usage = wait_until(
            lambda: service.get("/api/keys/usage", headers=login.header).json(),
            "the request is not counted",
            pause=0.2,
        )
        assert [each["requests"] for each in usage] == [1]
