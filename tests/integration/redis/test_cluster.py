"""Rate limits, the bus and the cache on a Redis Cluster of three nodes."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from quotecast.bus.base import Batch, Beat, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import encode_change
from quotecast.cache.base import Policy
from quotecast.cache.redis import RedisCache
from quotecast.errors import BusError
from quotecast.limits.window import Window
from quotecast.local import probes
from quotecast.market.feeds import Feed
from quotecast.operators.reports.store import ReportStore
from support.clients.scraping import decided_alone
from support.made.market import INFO, state_of, stock
from support.made.reports import report
from support.oracles.access_rules import PASSWORD, create_users, refusals
from support.runs.deadlines import scaled
from support.runs.waits import until_answered
from support.servers.cluster import Nodes, follows, running_cluster
from support.servers.reserved import port_number, reserve_port
from support.servers.sentinel_set import until
from support.servers.service import Service

pytestmark = pytest.mark.usefixtures("patient_redis")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with running_cluster() as started:
        yield started


@pytest.fixture(scope="module")
def cluster_url(nodes: Nodes) -> str:
    return f"redis+cluster://127.0.0.1:{next(iter(nodes))}"


def port_of(url: str, feed: Feed) -> int:
    """Returns the port of the node that holds a feed's keys and channel."""
    with redis.RedisCluster.from_url(url.replace("+cluster", "")) as client:
        node = client.get_node_from_key(f"{{{feed}}}")
    assert node is not None
    return int(node.port)


def sharded_channels(port: int) -> set[str]:
    with redis.Redis(port=port) as client:
        channels: Any = client.execute_command("PUBSUB SHARDCHANNELS")
        return {channel.decode() for channel in channels}


@pytest.fixture
async def bus(cluster_url: str) -> AsyncIterator[RedisBus]:
    opened = RedisBus(cluster_url, "test")
    yield opened
    await opened.close()


async def test_two_workers_together_admit_exactly_the_limit(cluster_url: str) -> None:
    """The count is exact for many keys, which lie on all nodes."""
    keys = [f"address:/api/{number}" for number in range(40)]
    async with (
        Window(cluster_url, prefix="test", budget=5) as first,
        Window(cluster_url, prefix="test", budget=5) as second,
    ):
        decisions = await asyncio.gather(
            *(worker.check(key, 3) for key in keys for worker in (first, second) for _ in range(4))
        )
        admitted = [sum(each.admitted for each in decisions[start : start + 8]) for start in range(0, 320, 8)]
        assert admitted == [3] * len(keys)
        assert first.statistics().fallbacks == second.statistics().fallbacks == 0


@pytest.mark.parametrize("feed", Feed)
async def test_the_bus_carries_every_feed(bus: RedisBus, feed: Feed) -> None:
    """State, batches and beats arrive for keys on any node."""
    state = state_of([stock("AAPL")], feed=feed)
    quote = stock("AAPL", 101.0)
    batch = Batch(feed=feed, epoch=state.epoch, seq=2, changes=[encode_change(quote)])
    beat = Beat(feed=feed, epoch=state.epoch, seq=2, info=INFO)
    assert await bus.hold(feed, "me", 10_000)
    assert await bus.begin("me", state)
    assert await bus.load(feed) == state
    async with bus.listen([*Feed]) as messages:
        assert await bus.publish("me", batch, {"AAPL": StoredQuote(2, 1, quote)})
        assert await bus.beat(beat)
        assert [await anext(messages) for _ in range(2)] == [batch, beat]


async def test_the_documented_rules_are_enough_on_every_node(cluster_url: str, nodes: Nodes) -> None:
    """Users of ingests and workers need a few commands more than on one server."""
    for port in nodes:
        with redis.Redis(port=port) as node:
            create_users(node, clustered=True)
    ingest, api = (
        RedisBus(cluster_url.replace("//", f"//quotecast-{name}:{PASSWORD}@"), "quotecast")
        for name in ("ingest", "api")
    )
    for feed in Feed:
        assert await ingest.hold(feed, "me", 60_000)
    async with api.listen([*Feed]) as messages:
        for feed in Feed:
            assert await ingest.begin("me", state_of([stock()], feed=feed))
        assert [isinstance(await anext(messages), Beat) for _ in Feed] == [True] * len(Feed)
        assert await api.check() == "ok"
        with pytest.raises(BusError, match=r"permission|can't (run|access)"):
            await api.hold(Feed.STOCKS, "me", 60_000)
    for feed in Feed:
        await ingest.release(feed, "me")
    await ingest.close()
    await api.close()
    refused = []
    for port in nodes:
        with redis.Redis(port=port, decode_responses=True) as node:
            refused += refusals(node)
    assert {*refused} == {("quotecast-api", "quotecast:{stocks}:lease")}


async def test_a_node_passes_on_what_lies_on_it_alone(cluster_url: str, nodes: Nodes, bus: RedisBus) -> None:
    """Channels are sharded: each has its subscriber on its own node, which ends with the listener."""
    homes = {
        port: {f"test:{{{feed}}}:batches" for feed in Feed if port_of(cluster_url, feed) == port}
        for port in nodes
    }
    async with bus.listen([*Feed]):
        assert {port: sharded_channels(port) for port in nodes} == homes
    gone = partial(
        until, lambda: not any(map(sharded_channels, nodes)), "a subscription outlives its listener"
    )
    await asyncio.to_thread(gone)


async def test_a_node_that_hangs_holds_up_no_other(cluster_url: str, nodes: Nodes, bus: RedisBus) -> None:
    """Messages of channels on other nodes still arrive."""
    hanging = port_of(cluster_url, Feed.STOCKS)
    other = next(feed for feed in Feed if port_of(cluster_url, feed) != hanging)
    state = state_of([stock("AAPL")], feed=other)
    assert await bus.hold(other, "me", 10_000)
    async with bus.listen([*Feed]) as messages:
        nodes[hanging].send_signal(signal.SIGSTOP)
        try:
            assert await bus.begin("me", state)
            beat = await anext(messages)
            assert isinstance(beat, Beat)
            assert (beat.feed, beat.epoch) == (other, state.epoch)
        finally:
            nodes[hanging].send_signal(signal.SIGCONT)


@pytest.mark.slow
async def test_a_node_that_hangs_is_given_up_for_its_replica() -> None:
    """After calls that ended by deadlines, the client loads the slot table again."""
    async with contextlib.AsyncExitStack() as stack:
        nodes = stack.enter_context(running_cluster(spare=1))
        url = f"redis+cluster://127.0.0.1:{next(iter(nodes))}"
        hanging, replica = port_of(url, Feed.STOCKS), list(nodes)[-1]
        stack.push_async_callback((bus := RedisBus(url, "test")).close)
        state = state_of([stock("AAPL")])
        assert await bus.hold(Feed.STOCKS, "me", 60_000)
        assert await bus.begin("me", state)
        with redis.Redis(port=hanging) as primary, redis.Redis(port=replica) as other:
            name: Any = primary.execute_command("CLUSTER MYID")
            await asyncio.to_thread(until, partial(follows, other, name), "the replica does not follow")
            nodes[hanging].send_signal(signal.SIGSTOP)
            other.execute_command("CLUSTER FAILOVER TAKEOVER")
        found = await until_answered(partial(bus.load, Feed.STOCKS), ignoring=(BusError,))
        assert found == state


async def test_a_cluster_that_nobody_can_reach_is_a_bus_that_is_away() -> None:
    """A worker survives every exception of the client."""
    with reserve_port() as held:
        bus = RedisBus(f"redis+cluster://127.0.0.1:{port_number(held)}", "test")
        with pytest.raises(BusError):
            await bus.load(Feed.STOCKS)
        with pytest.raises(BusError):
            async with bus.listen([*Feed]):
                pass
        await bus.close()


async def test_the_cache_keeps_answers_on_every_node(cluster_url: str) -> None:
    """Workers share answers on any node."""
    policy = Policy(fresh_seconds=60)

    async def fetch() -> bytes:
        return b"answer"

    # A machine that stalls for longer than the usual budget would be an outage.
    caches = [RedisCache(cluster_url, "test", budget=scaled(10.0)) for _ in range(2)]
    async with caches[0] as first, caches[1] as second:
        keys = [f"upstream:{number}" for number in range(12)]
        assert {(await first.read(key, policy, fetch)).status for key in keys} == {"MISS"}
        assert {(await second.read(key, policy, fetch)).status for key in keys} == {"HIT"}


async def test_reports_of_processes_lie_on_one_node(cluster_url: str) -> None:
    """One call reads the reports of all processes."""
    async with ReportStore(cluster_url, "reported") as store:
        for name in ("1-a", "2-b", "3-c"):
            await store.put(report(name))
        await store.remove("2-b")
        assert [each.id for each in await store.all()] == ["1-a", "3-c"]


@pytest.mark.slow
def test_a_whole_service_runs_on_a_cluster(cluster_url: str) -> None:
    """Two workers that use all nodes count requests together."""
    with Service(SimpleNamespace(url=cluster_url)) as service:
        service.start("ingest")
        workers = [service.start_measured("api") for _ in range(2)]
        answers = [service.get("/api/market/quotes?symbols=AAPL") for _ in range(6)]
        assert {answer.status_code for answer in answers} == {200}
        left = {int(answer.headers["X-RateLimit-Remaining"]) for answer in answers}
        assert max(left) == 119
        assert len(left) >= 6 - decided_alone(workers)
        for feed in ("market", "crypto", "doviz"):
            with service.feed(f"/api/ws/{feed}?symbols=all") as client:
                client.next_of("update")


async def test_any_node_that_is_named_leads_to_the_cluster(cluster_url: str) -> None:
    """The client skips nodes that are down."""
    with reserve_port() as held:
        seeds = cluster_url.replace("//", f"//127.0.0.1:{port_number(held)},")
        bus = RedisBus(seeds, "test")
        assert await bus.check() == "ok"
        assert (await probes.cache(seeds)).startswith(("Valkey ", "Redis "))
        await bus.close()


async def test_a_cluster_is_found_before_anything_is_started(cluster_url: str) -> None:
    """`up` and `doctor` probe one node."""
    assert (await probes.cache(cluster_url)).startswith(("Valkey ", "Redis "))
