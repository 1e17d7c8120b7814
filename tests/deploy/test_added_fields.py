"""A release adds a field to quotes: clients that come from workers of the old release receive it.

The new release is a copy of this one with one more field. Workers of both run side by side on one bus.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

import quotecast
from quotecast.bus.base import Batch, FeedInfo, Snapshot, StoredQuote
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import encode_change
from quotecast.market.feeds import Feed
from support.made.market import stock
from support.servers.processes import Valkey
from support.servers.service import Service

pytestmark = pytest.mark.slow

EPOCH = "0000000000aa00000001"
FIELD = '    industry: str = "Other"\n'
ADDED = FIELD + '    isin: str = "unknown"\n'
FEED = "/api/ws/market?symbols=AAPL,MSFT"
SETTINGS = {"QUOTECAST_LIMITS": "off", "QUOTECAST_CRYPTO": "none", "QUOTECAST_DOVIZ": "none"}


@pytest.fixture
def next_version(tmp_path: Path) -> dict[str, str]:
    """Returns the environment of a process of the new release."""
    package = tmp_path / "quotecast"
    ignored = shutil.ignore_patterns("web", "__pycache__")
    shutil.copytree(Path(quotecast.__file__).parent, package, ignore=ignored)
    (package / "web").mkdir()
    quotes = package / "market" / "quotes.py"
    text = quotes.read_text("utf-8")
    assert FIELD in text
    quotes.write_text(text.replace(FIELD, ADDED), "utf-8")
    return {"PYTHONPATH": str(tmp_path)}


@pytest.fixture
async def bus(own_valkey: Valkey) -> AsyncIterator[RedisBus]:
    """Provides a feed without updates from an ingest of this release: its quotes lack the field."""
    bus = RedisBus(own_valkey.url, "quotecast")
    stored = {ticker: StoredQuote(1, 1, stock(ticker)) for ticker in ("AAPL", "MSFT")}
    assert await bus.hold(Feed.STOCKS, "test", 600_000)
    info = FeedInfo(provider="test")
    assert await bus.begin("test", Snapshot(Feed.STOCKS, EPOCH, 1, info, stored))
    yield bus
    await bus.close()


@pytest.mark.usefixtures("bus")
async def test_a_client_of_the_old_version_gets_the_added_field(
    own_valkey: Valkey, next_version: dict[str, str]
) -> None:
    """A client that changes to a worker of the other release gets a resync, though no quote changed."""
    with ExitStack() as stack:
        before, after = (stack.enter_context(Service(own_valkey, SETTINGS)) for _ in range(2))
        before.start("api")
        after.launch("api", next_version)
        after.until_ready()
        with before.feed(FEED) as client:
            client.next_of("snapshot")
            state = client.state
        for service, fields in ((after, {"unknown"}), (before, {None}), (after, {"unknown"})):
            with service.feed(f"{FEED}&since={state.since}") as client:
                assert client.next_of("snapshot")["reason"] == "resync"
                assert {quote.get("isin") for quote in client.state.quotes.values()} == fields
                state = client.state
        with after.feed(f"{FEED}&since={state.since}") as client:
            resumed = client.next_of("snapshot")
        assert (resumed["reason"], resumed["data"]) == ("resume", [])


@pytest.mark.usefixtures("bus")
async def test_an_entity_tag_of_the_version_before_does_not_hide_the_added_field(
    own_valkey: Valkey, next_version: dict[str, str]
) -> None:
    """An entity tag of the old release gets 200 with the new field; a tag of the same release gets 304."""
    with ExitStack() as stack:
        before, after = (stack.enter_context(Service(own_valkey, SETTINGS)) for _ in range(2))
        before.start("api")
        after.launch("api", next_version)
        after.until_ready()
        # The entity tag contains the state of the feed, which becomes stale after some seconds.
        for path in ("/api/market/quotes/AAPL", "/api/market/quotes?symbols=all"):
            tag = before.get(path).headers["etag"].replace("-stale", "")
            whole = after.get(path, headers={"if-none-match": f'{tag}, {tag[:-1]}-stale"'})
            assert whole.status_code == httpx.codes.OK
            assert '"isin":"unknown"' in whole.text
            tag = whole.headers["etag"].replace("-stale", "")
            again = after.get(path, headers={"if-none-match": f'{tag}, {tag[:-1]}-stale"'})
            assert again.status_code == httpx.codes.NOT_MODIFIED


async def test_a_change_reaches_clients_of_both_versions(
    own_valkey: Valkey, bus: RedisBus, next_version: dict[str, str]
) -> None:
    """Workers of both releases follow the same bus."""
    with ExitStack() as stack:
        before, after = (stack.enter_context(Service(own_valkey, SETTINGS)) for _ in range(2))
        before.start("api")
        after.launch("api", next_version)
        after.until_ready()
        clients = [stack.enter_context(service.feed(FEED)) for service in (before, after)]
        for client in clients:
            client.next_of("snapshot")
        moved = replace(stock("AAPL"), price=101.0)
        batch = Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=[encode_change(moved)])
        assert await bus.publish("test", batch, {"AAPL": StoredQuote(2, 1, moved)})
        assert [client.next_of("update")["data"][0]["price"] for client in clients] == [101.0, 101.0]
