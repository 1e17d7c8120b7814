"""The slowest clients of a worker, with fake sockets."""

import asyncio
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from quotecast.access.grant import Grant
from quotecast.access.plans import Plan
from quotecast.api.metrics.worker_report import slowest
from quotecast.close_codes import CloseCode
from quotecast.feed.client import ClientSession
from quotecast.feed.frames import Limits
from quotecast.feed.hub import Hub
from quotecast.feed.tiers import MAX_PAUSE_SECONDS
from quotecast.market.feeds import Feed
from quotecast.stream.client import Client, ConnectionEnded
from support.made.factories import mirror_of
from support.made.market import stock


class Stuck:
    """A socket that has taken nothing since a time."""

    def __init__(self, unsent: int, paused_at: float = 90.0, *, ready: bool = False) -> None:
        self.unsent = unsent
        self.paused_at = paused_at
        self.ready = ready

    def write(self, _: Any) -> None:
        raise AssertionError("a report writes nothing")


class Reading(Stuck):
    """A socket whose client takes some bytes in each of the first times of four seconds, and then no more."""

    def __init__(self, unsent: int, taken: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(unsent, 100.0)
        self.now = 100.0
        self._taken = iter(taken)
        monkeypatch.setattr("quotecast.stream.client.time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr("quotecast.stream.client.LOOK_SECONDS", 0.0)

    def __await__(self) -> Generator[Any, None, None]:
        self.now += 4.0
        self.unsent -= next(self._taken, 0)
        self.ready = self.unsent <= 0
        yield from asyncio.get_running_loop().create_future().__await__()


async def client(socket: Any, address: str = "", grant: Grant | None = None) -> Client:
    mirror = mirror_of(Feed.STOCKS, [stock()])
    session = ClientSession([mirror], Limits(), connection=f"{id(socket):x}")

    async def end(_: Any) -> None:
        await asyncio.sleep(0)

    hub = cast("Hub", None)
    return Client("stocks", "websocket", session, [hub], grant=grant, address=address, end=end, socket=socket)


async def test_most_unsent_bytes_come_first() -> None:
    """A client that has taken everything is not slow; of equal bytes the longest wait comes first."""
    clients = [
        await client(Stuck(10)),
        await client(Stuck(99, ready=True)),
        await client(Stuck(30)),
        await client(Stuck(10, paused_at=50.0)),
    ]
    found = slowest(clients, 3, now=100.0)
    assert [(each.unsent_bytes, each.paused_seconds) for each in found] == [
        (30, 10.0),
        (10, 50.0),
        (10, 10.0),
    ]
    assert len(slowest(clients, 1, now=100.0)) == 1


async def test_client_that_reads_all_the_time_gets_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a time without a byte taken counts, not the time for the whole answer."""
    socket = Reading(100, [10] * 10, monkeypatch)
    await (await client(socket)).wait_until_sent()
    assert (socket.unsent, socket.now) == (0, 140.0)


@pytest.mark.parametrize(
    ("taken", "seconds"),
    [([], 12.0), ([10], 16.0), ([1] * 100, MAX_PAUSE_SECONDS + 4.0)],
    ids=["nothing", "nothing more", "too little"],
)
async def test_client_that_takes_too_little_is_slow(
    monkeypatch: pytest.MonkeyPatch, taken: list[int], seconds: float
) -> None:
    """It takes nothing for ten seconds, or some bytes for two minutes."""
    socket = Reading(1000, taken, monkeypatch)
    with pytest.raises(ConnectionEnded) as ended:
        await (await client(socket)).wait_until_sent()
    assert ended.value.code is CloseCode.SLOW
    assert socket.now == 100.0 + seconds


async def test_client_is_named_by_network_and_plan() -> None:
    """No whole address leaves the worker."""
    grant = Grant("silver", Plan())
    [shown] = slowest([await client(Stuck(7), "203.0.113.77", grant)], 5, now=100.0)
    assert (shown.address, shown.plan, shown.key, shown.unsent_bytes) == ("203.0.113.0/24", "silver", "", 7)


@pytest.mark.parametrize("asked", [False, True])
async def test_client_is_behind_by_the_changes_since_its_cursor(*, asked: bool) -> None:
    """A straggler lacks what came after its cursor; a member of a cohort lacks nothing."""
    made = await client(Stuck(1))
    [(_, connection)] = made.connections
    connection.cohort = cast("Any", object()) if asked else None
    session = connection.session
    lacking = session.mirror.mark.revision - session.subscription.mark.revision
    [shown] = slowest([made], 1, now=100.0)
    assert shown.behind == (0 if asked else lacking)
