"""The embedded Valkey: bounded memory, no disk, and precedence for feeds."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import redis

from quotecast.bus.base import Batch, Beat, Document, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import encode_change
from quotecast.local import servers
from quotecast.market.feeds import Feed
from support.made.market import INFO, state_of, stock
from support.servers.processes import Valkey

STATE = state_of([stock("AAPL"), stock("MSFT")])
MEBIBYTE = 1024 * 1024


@pytest.fixture
async def bus(own_valkey: Valkey) -> AsyncIterator[RedisBus]:
    """Returns a bus whose ingest leads the stocks."""
    redis_bus = RedisBus(own_valkey.url, "test")
    assert await redis_bus.hold(Feed.STOCKS, "me", 60_000)
    assert await redis_bus.begin("me", STATE)
    yield redis_bus
    await redis_bus.close()


def test_its_memory_is_bounded_and_nothing_is_saved(own_valkey: Valkey) -> None:
    """The limit is 512 MB; beyond it Valkey evicts keys with an expiry."""
    with redis.Redis.from_url(own_valkey.url) as client:
        settings: Any = client.config_get("maxmemory", "maxmemory-policy", "save")
    assert settings == {"maxmemory": str(512 * MEBIBYTE), "maxmemory-policy": "volatile-lru", "save": ""}


async def test_answers_past_the_bound_push_each_other_out(own_valkey: Valkey, bus: RedisBus) -> None:
    """Cached bars stay while there is room; the feed's state always stays."""
    bound = 16 * MEBIBYTE
    with redis.Redis.from_url(own_valkey.url) as client:
        client.config_set("maxmemory", bound)
        for number in range(60):
            client.set(f"series:{number}", bytes(MEBIBYTE), ex=3600)
        about: Any = client.info("memory")
        assert about["used_memory"] <= bound
        assert client.exists("series:59")
    assert await bus.load(Feed.STOCKS) == STATE


async def test_a_full_server_takes_what_a_feed_writes(own_valkey: Valkey, bus: RedisBus) -> None:
    """Without an evictable key, Valkey refuses writes except those of feeds, which are small."""
    with redis.Redis.from_url(own_valkey.url) as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", MEBIBYTE)
        with pytest.raises(redis.OutOfMemoryError):
            client.set("series", "...")
    quote = stock("AAPL", 101.0)
    batch = Batch(feed=Feed.STOCKS, epoch=STATE.epoch, seq=2, changes=[encode_change(quote)])
    assert await bus.publish("me", batch, {"AAPL": StoredQuote(2, 1, quote)})
    assert await bus.beat(Beat(feed=Feed.STOCKS, epoch=STATE.epoch, seq=2, info=INFO))
    assert await bus.store("me", Document(Feed.STOCKS, "news", "digest", b"content"))
    assert await bus.hold(Feed.STOCKS, "me", 60_000)
    assert await bus.begin("me", STATE)
    assert await bus.load(Feed.STOCKS) == STATE


async def test_a_damaged_dump_of_an_earlier_version_is_no_obstacle(tmp_path: Path) -> None:
    """Ingest writes its data again within seconds; a dump would hold only outdated data."""
    home = tmp_path / "valkey"
    home.mkdir()
    (home / "dump.rdb").write_bytes(b"REDIS0011" + bytes(64))
    async with servers.cache("", tmp_path, tmp_path) as url:
        with redis.Redis.from_url(url) as client:
            assert client.ping()
