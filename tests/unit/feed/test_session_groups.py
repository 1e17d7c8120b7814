"""Groups in subscriptions, and the encodings of frames."""

import msgspec
import pytest

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.commands import Query
from quotecast.feed.encoding import DEFLATE, JSON, MSGPACK
from quotecast.feed.frames import Limits
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.clients.merging_client import READERS
from support.made.market import EPOCH, state_of, stock, wire_epoch
from support.stages.feed_session import MarketSession, move, opened, parsed


@pytest.fixture
def mirror() -> Mirror:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("MSFT"), stock("TSLA")]))
    return mirror


def test_unsubscribe_takes_a_group_without_members_away(mirror: Mirror) -> None:
    """In any letter case: it may have members again."""
    session, _ = opened(mirror, Limits(), symbols="sector:energy")
    move(mirror, "", 0.0, removed=("AAPL", "MSFT", "TSLA"))
    said = session.receive('{"action":"unsubscribe","symbols":["Sector:energy"]}', 0.0)
    assert parsed(said)[-1]["symbols"] == []


def test_groups_follow_their_members(mirror: Mirror) -> None:
    """A new member arrives as a full quote; a former member is in `removed`."""
    session, frames = opened(mirror, Limits(), symbols="sector:energy")
    assert frames[1]["symbols"] == ["sector:Energy"]
    assert {quote["ticker"] for quote in frames[2]["data"]} == {"AAPL", "MSFT", "TSLA"}
    changes = [
        encode_change(stock("AAPL", sector="Materials"), full=True),
        encode_change(stock("NEW"), full=True),
    ]
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=changes))
    (frame,) = parsed([session.advance()])
    assert [item["ticker"] for item in frame["data"]] == ["NEW"]
    assert frame["removed"] == ["AAPL"]
    assert parsed(session.receive('{"action":"list"}', 0.0))[0]["symbols"] == ["sector:Energy"]


def test_a_group_nobody_belongs_to_is_rejected(mirror: Mirror) -> None:
    """A group without members is rejected like an unknown symbol."""
    _, frames = opened(mirror, Limits(), symbols="sector:Tulips")
    assert frames[1]["rejected"] == [{"symbol": "sector:Tulips", "code": 404}]


def test_resume_starts_over_when_a_member_may_have_left(mirror: Mirror) -> None:
    """A resume causes a resync if a member may have left: the client would keep it for ever."""
    changes = [encode_change(stock("AAPL", sector="Materials"), full=True)]
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=changes))
    _, frames = opened(mirror, Limits(), symbols="sector:Energy", since=f"{wire_epoch()}-1")
    assert frames[2]["reason"] == "resync"
    assert {quote["ticker"] for quote in frames[2]["data"]} == {"MSFT", "TSLA"}


def test_a_msgpack_client_is_understood_in_its_own_notation(mirror: Mirror) -> None:
    """A MessagePack client sends commands in MessagePack or JSON, and gets MessagePack."""
    session = MarketSession(mirror, MSGPACK)
    packed = msgspec.msgpack.encode({"action": "ping", "id": 1})
    for message in (packed, '{"action":"ping","id":1}'):
        (frame,) = session.receive(message, 0.0)
        assert frame.binary
        assert msgspec.msgpack.decode(frame.payload)["type"] == "pong"
    (frame,) = session.receive(b"\xc1", 0.0)
    assert frame.binary
    assert msgspec.msgpack.decode(frame.payload)["detail"] == "Commands must be valid MessagePack"


def test_every_encoding_says_the_same(mirror: Mirror) -> None:
    """All encodings of a frame with objects decode to the same structure."""
    said = []
    for encoding in (JSON, MSGPACK, DEFLATE):
        greeting = MarketSession(mirror, encoding).greet(Query("all"))
        said.append([READERS[encoding.subprotocol](each.payload) for each in greeting])
    assert said[0] == said[1] == said[2]


def test_unsubscribing_tells_first_what_left_a_group(mirror: Mirror) -> None:
    """Unsubscribe sends the removals of a group first: the client would keep those symbols for ever."""
    session, _ = opened(mirror, Limits(), symbols="sector:Energy,NEW")
    changes = [encode_change(stock("AAPL", sector="Materials"), full=True)]
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=changes))
    said = session.receive('{"action":"unsubscribe","symbols":["NEW"]}', 0.0)
    update, acknowledgement = parsed(said)
    assert update["removed"] == ["AAPL"]
    assert acknowledgement["symbols"] == ["sector:Energy"]
