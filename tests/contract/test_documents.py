"""Guarantees of every bus for documents, tested on each implementation."""

import msgspec
import pytest
import redis
from msgspec import Struct

from quotecast.bus import wire
from quotecast.bus.base import ASSETS, NEWS, Batch, Beat, DocumentChanged
from quotecast.bus.redis import RedisBus
from quotecast.market.feeds import Feed
from support.made.documents import article, asset, assets_of, news_of
from support.made.market import INFO, state_of, stock
from support.made.memory_bus import MemoryBus

Bus = MemoryBus | RedisBus

DOCUMENT = news_of(article(1))
OTHER = news_of(article(2), article(1))


async def test_there_is_no_document_before_the_first(bus: Bus) -> None:
    """Before the first document there is None, which differs from an empty document."""
    assert await bus.digest(Feed.STOCKS, NEWS) is None
    assert await bus.document(Feed.STOCKS, NEWS) is None


async def test_the_bus_stores_the_last_document_of_a_name(bus: Bus) -> None:
    """The bus stores the last document of each feed and name."""
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    for document in (DOCUMENT, OTHER, assets_of(asset())):
        assert await bus.store("me", document)
    assert await bus.document(Feed.STOCKS, NEWS) == OTHER
    assert await bus.digest(Feed.STOCKS, NEWS) == OTHER.digest
    assert await bus.document(Feed.STOCKS, ASSETS) == assets_of(asset())
    assert await bus.document(Feed.CRYPTO, NEWS) is None


async def test_only_the_leader_of_the_feed_stores_its_documents(bus: Bus) -> None:
    """Storing a document without the lease of its feed fails and changes nothing."""
    assert not await bus.store("me", DOCUMENT)
    assert await bus.hold(Feed.STOCKS, "other", 10_000)
    assert await bus.hold(Feed.CRYPTO, "me", 10_000)
    async with bus.listen([Feed.STOCKS]) as messages:
        assert not await bus.store("me", DOCUMENT)
        assert await anext(messages) is None
    assert await bus.document(Feed.STOCKS, NEWS) is None


async def test_a_changed_document_is_sent_once(bus: Bus) -> None:
    """Listeners of the feed get each changed document once, and no document with equal content."""
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    async with bus.listen([Feed.STOCKS]) as messages, bus.listen([Feed.CRYPTO]) as others:
        for document in (DOCUMENT, news_of(article(1)), OTHER):
            assert await bus.store("me", document)
        assert [await anext(messages) for _ in range(2)] == [
            DocumentChanged(feed=Feed.STOCKS, name=NEWS, digest=DOCUMENT.digest),
            DocumentChanged(feed=Feed.STOCKS, name=NEWS, digest=OTHER.digest),
        ]
        assert await anext(messages) is None
        assert await anext(others) is None


async def test_a_damaged_document_is_stored_again(bus: Bus) -> None:
    """A reader's complaint takes its digest away; one about another version changes nothing."""
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    assert await bus.store("me", DOCUMENT)
    await bus.report_document(OTHER)
    assert await bus.digest(Feed.STOCKS, NEWS) == DOCUMENT.digest
    await bus.report_document(DOCUMENT)
    assert await bus.digest(Feed.STOCKS, NEWS) is None
    async with bus.listen([Feed.STOCKS]) as messages:
        assert await bus.store("me", DOCUMENT)
        told = DocumentChanged(feed=Feed.STOCKS, name=NEWS, digest=DOCUMENT.digest)
        assert await anext(messages) == told
    assert await bus.document(Feed.STOCKS, NEWS) == DOCUMENT


async def test_documents_outlive_an_epoch(bus: Bus) -> None:
    """Documents survive a new epoch: the next leader starts with them."""
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    assert await bus.store("me", DOCUMENT)
    assert await bus.begin("me", state_of([stock()]))
    assert await bus.document(Feed.STOCKS, NEWS) == DOCUMENT


def test_equal_content_has_an_equal_digest() -> None:
    """Equal content has an equal digest, and readers get what was written."""
    assert news_of(article(1)).digest == DOCUMENT.digest != OTHER.digest
    assert wire.decode_articles(OTHER.content) == [article(2), article(1)]
    assert wire.decode_assets(assets_of(asset()).content) == [asset()]


@pytest.mark.parametrize(
    "message",
    [
        Batch(feed=Feed.STOCKS, epoch="e", seq=1),
        Beat(feed=Feed.STOCKS, epoch="e", seq=1, info=INFO),
        DocumentChanged(feed=Feed.STOCKS, name=NEWS, digest="d"),
    ],
)
def test_messages_are_read_as_they_were_written(message: Struct) -> None:
    assert wire.decode_message(wire.encode(message)) == message


@pytest.mark.parametrize(
    "foreign",
    [
        {"type": "telegram", "feed": "stocks"},
        {"type": "beat", "feed": "bonds", "epoch": "e", "seq": 1, "info": {"provider": "x"}},
        {"type": "batch"},
        [],
    ],
)
def test_documents_of_a_newer_version_are_ignored(foreign: object) -> None:
    """A worker ignores a document that only a newer version understands."""
    assert wire.decode_message(msgspec.msgpack.encode(foreign)) is None


async def test_messages_of_another_version_are_skipped(redis_url: str) -> None:
    """A message of another version does not end the subscription; later messages arrive."""
    bus = RedisBus(redis_url, "test")
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    async with bus.listen([Feed.STOCKS]) as messages:
        with redis.Redis.from_url(redis_url) as client:
            client.publish("test:{stocks}:batches", wire.encode({"type": "telegram"}))
        assert await bus.store("me", DOCUMENT)
        assert await anext(messages) is None
        assert await anext(messages) == DocumentChanged(feed=Feed.STOCKS, name=NEWS, digest=DOCUMENT.digest)
    await bus.close()
