"""An unreadable value on the bus: other feeds go on, and its own feed gets a new epoch."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
import redis.asyncio
from msgspec import Raw, structs

from quotecast.bus import wire
from quotecast.bus.base import NEWS, NO_PARTS, Batch, Document, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.ingest.documents import DocumentPublisher, DocumentSource
from quotecast.market.crossings import Crossing
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Parts
from support.made.documents import article, news_of
from support.made.market import pair, state_of, stock
from support.made.unreadable import KINDS, with_unreadable_quote
from support.runs.waits import until
from support.servers.processes import Valkey
from support.stages.following import ScriptedProvider, lead, price, running

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("patient_bus")]

BAD = b"\xc1 no MessagePack"
NO_TEXT = wire.encode({"type": "batch", "feed": "crypto", "epoch": "e"}).replace(b"\xa1e", b"\xa1\xff")
POISONS: dict[str, list[bytes | str]] = {
    "a quote": ["HSET", "test:{stocks}:quotes", "AAPL", BAD],
    "a symbol": ["HSET", "test:{stocks}:quotes", b"\xff", BAD],
    "the info": ["HSET", "test:{stocks}:state", "info", BAD],
    "no info": ["HDEL", "test:{stocks}:state", "info"],
    "the seq": ["HSET", "test:{stocks}:state", "seq", "one"],
    "the kind of quotes": ["SET", "test:{stocks}:quotes", "text"],
    "the kind of state": ["SET", "test:{stocks}:state", "text"],
    "the kind of a document": ["SET", "test:{stocks}:document:news", "text"],
}


@pytest.fixture
async def bus(own_valkey: Valkey) -> AsyncIterator[RedisBus]:
    redis_bus = RedisBus(own_valkey.url, "test")
    yield redis_bus
    await redis_bus.close()


async def poison(server: Valkey, name: str) -> None:
    async with redis.asyncio.Redis.from_url(server.url) as client:
        await client.execute_command(*POISONS[name])  # type: ignore[no-untyped-call]


def two_mirrors() -> dict[Feed, Mirror]:
    return {feed: Mirror(feed) for feed in (Feed.STOCKS, Feed.CRYPTO)}


@pytest.mark.parametrize("name", POISONS)
async def test_an_unreadable_value_stops_no_other_feed(own_valkey: Valkey, bus: RedisBus, name: str) -> None:
    """A worker loads the other feeds, even without an ingest that could repair the value."""
    for feed in (Feed.STOCKS, Feed.CRYPTO):
        await bus.hold(feed, "me", 60_000)
        await bus.begin("me", structs.replace(state_of([stock("AAPL", 1.0)]), feed=feed))
    await poison(own_valkey, name)
    mirrors = two_mirrors()
    relay = BusListener(bus, mirrors)
    async with running(relay.run()):
        await until(lambda: mirrors[Feed.CRYPTO].loaded)
        await until(lambda: relay.has_asked)
    assert mirrors[Feed.CRYPTO].readable
    assert mirrors[Feed.STOCKS].readable is ("document" in name)
    assert mirrors[Feed.STOCKS].loaded is ("document" in name)


@pytest.mark.parametrize("name", POISONS)
async def test_a_feed_that_a_worker_cannot_read_starts_a_new_epoch(
    own_valkey: Valkey, bus: RedisBus, name: str
) -> None:
    """The leader of an unreadable feed publishes its whole state in a new epoch."""
    upstream, before = ScriptedProvider(), Mirror(Feed.STOCKS)
    upstream.send(stock("AAPL", 1.0))
    async with running(lead(bus, upstream, "a")):
        async with running(BusListener(bus, {Feed.STOCKS: before}).run()):
            await until(lambda: price(before, "AAPL") == 1.0)
        await poison(own_valkey, name)
        mirrors = two_mirrors()
        async with running(BusListener(bus, mirrors).run()):
            await until(lambda: price(mirrors[Feed.STOCKS], "AAPL") == 1.0)
            upstream.send(stock("AAPL", 2.0))
            await until(lambda: price(mirrors[Feed.STOCKS], "AAPL") == 2.0)
        assert mirrors[Feed.STOCKS].readable
        assert upstream.connections == 1


@pytest.mark.parametrize("name", POISONS)
async def test_a_successor_does_not_inherit_what_it_cannot_read(
    own_valkey: Valkey, bus: RedisBus, name: str
) -> None:
    """A new leader ignores an unreadable state and starts from its own upstream."""
    assert await bus.hold(Feed.STOCKS, "old", 60_000)
    await bus.begin("old", state_of([stock("AAPL", 1.0)]))
    await bus.release(Feed.STOCKS, "old")
    await poison(own_valkey, name)
    upstream, mirror = ScriptedProvider(), Mirror(Feed.STOCKS)
    upstream.send(stock("MSFT", 2.0))
    async with running(lead(bus, upstream, "new"), BusListener(bus, {Feed.STOCKS: mirror}).run()):
        await until(lambda: price(mirror, "MSFT") == 2.0)


REFUSALS: dict[str, list[str | bytes]] = {
    "out of memory": ["CONFIG", "SET", "maxmemory", "1"],
    "a key that is not its own": [
        *("ACL", "SETUSER", "default", "resetkeys", "~test:{crypto}:*"),
        *(f"~test:{{stocks}}:{name}" for name in ("state", "quotes", "bars", "closings", "document:*")),
    ],
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_worker_that_may_not_report_loads_the_other_feeds(
    own_valkey: Valkey, bus: RedisBus, refusal: str
) -> None:
    """Its subscription goes on."""
    for feed in (Feed.STOCKS, Feed.CRYPTO):
        await bus.hold(feed, "me", 60_000)
        await bus.begin("me", structs.replace(state_of([stock("AAPL", 1.0)]), feed=feed))
    await poison(own_valkey, "a quote")
    async with redis.asyncio.Redis.from_url(own_valkey.url) as client:
        await client.execute_command(*REFUSALS[refusal])  # type: ignore[no-untyped-call]
    mirrors = two_mirrors()
    relay = BusListener(bus, mirrors)
    async with running(relay.run()):
        await until(lambda: relay.has_asked)
    assert (mirrors[Feed.STOCKS].readable, mirrors[Feed.CRYPTO].loaded) == (False, True)
    assert relay.statistics()["reconnects"] == 0


async def test_a_feed_heals_while_redis_has_no_memory_left(own_valkey: Valkey, bus: RedisBus) -> None:
    """The worker asks for a new epoch, and its leader writes it."""
    upstream, mirrors = ScriptedProvider(), two_mirrors()
    upstream.send(stock("AAPL", 1.0))
    async with running(lead(bus, upstream, "a")):
        async with running(BusListener(bus, mirrors).run()):
            await until(lambda: price(mirrors[Feed.STOCKS], "AAPL") == 1.0)
        async with redis.asyncio.Redis.from_url(own_valkey.url) as client:
            await client.execute_command(*POISONS["a quote"])  # type: ignore[no-untyped-call]
            # Else a server without memory evicts what expires: the request, and the lease.
            await client.config_set("maxmemory-policy", "noeviction")
            await client.config_set("maxmemory", 1)
        mirrors = two_mirrors()
        async with running(BusListener(bus, mirrors).run()):
            await until(lambda: price(mirrors[Feed.STOCKS], "AAPL") == 1.0)


DAMAGES: dict[str, list[bytes | str]] = {
    "its kind": ["SET", "test:{stocks}:document:news", "text"],
    "its content": ["HSET", "test:{stocks}:document:news", "content", BAD],
    "no content": ["HDEL", "test:{stocks}:document:news", "content"],
    "other content": ["HSET", "test:{stocks}:document:news", "content", b"\x90"],
    "its digest": ["HSET", "test:{stocks}:document:news", "digest", b"\xff"],
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_document_heals(own_valkey: Valkey, bus: RedisBus, damage: str) -> None:
    """A worker that starts later has it, from a publisher whose upstream says nothing new."""
    document = news_of(article(1))

    async def fetch() -> Document:
        return document

    await bus.hold(Feed.STOCKS, "me", 60_000)
    await bus.begin("me", state_of([stock("AAPL", 1.0)]))
    await bus.store("me", document)
    async with redis.asyncio.Redis.from_url(own_valkey.url) as client:
        await client.execute_command(*DAMAGES[damage])  # type: ignore[no-untyped-call]
    copies = Documents()
    publisher = DocumentPublisher(DocumentSource(Feed.STOCKS, NEWS, 3600.0, fetch), bus, "me")
    relay = BusListener(bus, {Feed.STOCKS: Mirror(Feed.STOCKS)}, copies)
    async with running(relay.run()):
        await until(lambda: relay.has_asked)
        async with running(publisher.run()):
            await until(lambda: copies.news.items == [article(1)])
    assert await bus.document(Feed.STOCKS, NEWS) == document


@pytest.mark.parametrize("message", [BAD, NO_TEXT], ids=["no MessagePack", "text of no encoding"])
async def test_an_unreadable_message_ends_no_subscription(
    own_valkey: Valkey, bus: RedisBus, message: bytes
) -> None:
    """The worker skips a message that it cannot decode, and finds the gap by the next seq."""
    upstream, mirrors = ScriptedProvider(), two_mirrors()
    relay = BusListener(bus, mirrors)
    async with running(lead(bus, upstream, "a"), relay.run()):
        upstream.send(stock("AAPL", 1.0))
        await until(lambda: price(mirrors[Feed.STOCKS], "AAPL") == 1.0)
        async with redis.asyncio.Redis.from_url(own_valkey.url) as client:
            assert await client.publish("test:{crypto}:batches", message) == 1
        upstream.send(stock("AAPL", 2.0))
        await until(lambda: price(mirrors[Feed.STOCKS], "AAPL") == 2.0)
        assert relay.statistics()["reconnects"] == 0


class CorruptingBus(RedisBus):
    """The bus of an ingest that writes an unreadable quote of AAPL, once there is a kind."""

    kind = ""

    async def publish(
        self,
        owner: str,
        batch: Batch,
        entries: Mapping[str, StoredQuote],
        parts: Mapping[str, Parts] = NO_PARTS,
        crossings: Sequence[Crossing] = (),
    ) -> bool:
        if self.kind:
            batch = with_unreadable_quote(batch, self.kind)
            # A quote of another key is readable where it is stored.
            quote = Raw(b"\x07") if self.kind == "another key" else batch.changes[-1].quote
            entry: Any = {"seq": batch.seq, "full_seq": batch.seq, "quote": quote}
            entries, self.kind = {**entries, "AAPL": entry}, ""
        return await super().publish(owner, batch, entries, parts, crossings)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_unreadable_quote_in_a_batch_heals(own_valkey: Valkey, bus: RedisBus, kind: str) -> None:
    """The feed keeps its last good quotes until it has a new epoch; the other feed goes on."""
    upstream, mirrors, corrupting = ScriptedProvider(), two_mirrors(), CorruptingBus(own_valkey.url, "test")
    stocks, crypto = mirrors[Feed.STOCKS], mirrors[Feed.CRYPTO]
    await bus.hold(Feed.CRYPTO, "me", 60_000)
    await bus.begin("me", state_of([pair("BTC/USDT", 1.0)], feed=Feed.CRYPTO))
    relay = BusListener(bus, mirrors)
    async with running(lead(corrupting, upstream, "a"), relay.run()):
        upstream.send(stock("AAPL", 1.0), stock("MSFT", 1.0))
        await until(lambda: price(stocks, "MSFT") == 1.0 and crypto.loaded)
        epoch, corrupting.kind = stocks.epoch, kind
        upstream.send(stock("MSFT", 2.0))
        await until(lambda: not corrupting.kind)
        moved = [wire.encode_change(pair("BTC/USDT", 2.0))]
        assert await bus.publish("me", Batch(feed=Feed.CRYPTO, epoch=crypto.epoch, seq=2, changes=moved), {})
        await until(lambda: price(crypto, "BTC/USDT") == 2.0)
        assert price(stocks, "AAPL") == 1.0
        await until(lambda: price(stocks, "MSFT") == 2.0)
        assert (stocks.epoch > epoch, stocks.readable, price(stocks, "AAPL")) == (True, True, 1.0)
        assert (relay.statistics()["reconnects"], upstream.connections) == (0, 1)
    await corrupting.close()


async def test_an_unreadable_feed_is_stale_until_it_is_read(own_valkey: Valkey, bus: RedisBus) -> None:
    """The worker serves the old values of an unreadable feed as stale."""
    mirrors = two_mirrors()
    relay = BusListener(bus, mirrors)
    await bus.hold(Feed.STOCKS, "me", 60_000)
    await bus.begin("me", state_of([stock("AAPL", 1.0)]))
    await relay._load(Feed.STOCKS)
    stocks = mirrors[Feed.STOCKS]
    stocks.heard_at = now = asyncio.get_running_loop().time()
    assert stocks.state(now) == "live"
    await poison(own_valkey, "a quote")
    await relay._load(Feed.STOCKS)
    assert (stocks.state(now), price(stocks, "AAPL")) == ("stale", 1.0)
    await bus.begin("me", state_of([stock("AAPL", 1.0)], epoch="0000000000bb00000001"))
    await relay._load(Feed.STOCKS)
    assert stocks.state(now) == "live"
