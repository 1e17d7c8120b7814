"""Servers and Sentinels that speak TLS themselves and want client certificates; `install-redis` has them."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from quotecast.bus.redis import RedisBus
from quotecast.cache.base import Policy
from quotecast.cache.redis import RedisCache
from quotecast.errors import BusError
from quotecast.limits.window import Window
from quotecast.local import probes
from quotecast.market.feeds import Feed
from support.made.market import state_of, stock
from support.runs.deadlines import scaled
from support.servers.own_tls import make_certificate
from support.servers.reserved import port_number, reserve_port
from support.servers.sentinel_set import Identity, SentinelSet, own_servers, running_sentinels, until

pytestmark = pytest.mark.deploy

SERVERS = Path(__file__).parents[2] / ".servers"
PATIENCE_SECONDS = 30.0


@contextlib.contextmanager
def identity_at(program: str, folder: Path) -> Iterator[Identity]:
    """Makes the tests' servers that program, and yields a certificate for them."""
    path = (SERVERS / program).resolve(strict=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("quotecast.local.valkey.get_binary_path", lambda: path)
        yield Identity(make_certificate(folder, "redis.example", addresses=("127.0.0.1",))[1])


@pytest.fixture(scope="module", params=["redis-7.0", "valkey-8.1"])
def sentinels(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SentinelSet]:
    """Yields a master, its replica and three Sentinels, all of which want client certificates."""
    folder = tmp_path_factory.mktemp("tls")
    with identity_at(request.param, folder) as identity, running_sentinels(identity) as running:
        yield running


async def test_bus_limiter_and_cache_show_their_certificate(sentinels: SentinelSet) -> None:
    """To the Sentinels and to the master; connections are made within the budgets of limiter and cache."""

    async def fetch() -> bytes:
        return b"answer"

    bus = RedisBus(sentinels.url, "test")
    assert await bus.hold(Feed.STOCKS, "me", 60_000)
    assert await bus.check() == "ok"
    await bus.close()
    async with (
        Window(sentinels.url, prefix="test", budget=10) as window,
        RedisCache(sentinels.url, "test", budget=10) as cache,
    ):
        assert (await window.check("key", 1)).admitted
        assert not (await window.check("key", 1)).admitted
        assert (await cache.read("upstream:1", Policy(fresh_seconds=60), fetch)).status == "MISS"
        assert (window.statistics().openings, cache.statistics().openings) == (0, 0)
    assert (await probes.cache(sentinels.url)).startswith(("Valkey ", "Redis "))


async def test_a_client_without_a_certificate_is_refused(sentinels: SentinelSet, tmp_path: Path) -> None:
    """By the Sentinels and by the master; so is a certificate of another authority."""
    trusted, _, _ = sentinels.url.partition("&ssl_certfile")
    stranger = make_certificate(tmp_path, "redis.example")[1]
    other = f"ssl_certfile={stranger}&ssl_keyfile={stranger.with_name('key.pem')}"
    direct = trusted.replace("+sentinel", "").partition("?")[2]
    master = f"rediss://127.0.0.1:{sentinels.master.port}/0?{direct}"
    for url, words in (
        (trusted, "no Sentinel names the master"),
        (f"{trusted}&{other}", "no Sentinel names the master"),
        (master, "(?i)certificate required|connection"),
        (f"{master}&{other}", "(?i)unknown ca|connection"),
    ):
        bus = RedisBus(url, "test")
        with pytest.raises(BusError, match=words):
            await bus.load(Feed.STOCKS)
        await bus.close()


async def test_the_bus_follows_a_crash_of_the_master(sentinels: SentinelSet) -> None:
    """Over TLS too: the Sentinels promote the replica, which has the state."""
    sentinels.until_whole()
    bus = RedisBus(sentinels.url, "test")
    state = state_of([stock("AAPL")])
    assert await bus.hold(Feed.STOCKS, "me", 600_000)
    assert await bus.begin("me", state)
    until(lambda: sentinels.replica.ask("EXISTS", "test:{stocks}:state") == 1, "the replica has no state")
    await asyncio.to_thread(sentinels.kill_master)
    async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
        while True:
            with contextlib.suppress(BusError):
                if await bus.check() == "ok":
                    break
    assert await bus.load(Feed.STOCKS) == state
    await bus.close()
    await asyncio.to_thread(sentinels.restart)


@pytest.mark.parametrize("program", ["redis-7.0", "valkey-8.1"])
async def test_a_cluster_wants_the_certificate_too(program: str, tmp_path: Path) -> None:
    """Of every connection to every node that the first one names."""
    with (
        identity_at(program, tmp_path) as identity,
        own_servers(1, identity) as (node,),
        reserve_port() as held,
    ):
        node.start(
            *("--cluster-enabled", "yes", "--tls-cluster", "yes", "--cluster-port", str(port_number(held)))
        )
        node.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
        until(lambda: b"cluster_state:ok" in bytes(node.ask("CLUSTER", "INFO")), "the cluster is not whole")
        address = f"rediss+cluster://127.0.0.1:{node.port}"
        bus, stranger = (
            RedisBus(f"{address}?{options}", "test")
            for options in (urlencode(identity.options), f"ssl_ca_certs={identity.certificate}")
        )
        state = state_of([stock("AAPL")])
        assert await bus.hold(Feed.STOCKS, "me", 60_000)
        async with bus.listen([*Feed]) as messages:
            assert await bus.begin("me", state)
            assert await anext(messages) is not None
        assert await bus.load(Feed.STOCKS) == state
        with pytest.raises(BusError):
            await stranger.load(Feed.STOCKS)
        await bus.close()
        await stranger.close()
