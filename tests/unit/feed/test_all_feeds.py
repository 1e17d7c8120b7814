"""One client follows several feeds on one socket."""

import json
from typing import Any

import pytest

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.close_codes import CloseCode
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import Query
from quotecast.feed.frames import Limits
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.stream.queries import queries_of
from support.made.market import EPOCH, stock, wire_epoch
from support.stages.feed_session import made_mirror, parsed


class Socket:
    """A session of the market, which has data, and of crypto, which has none."""

    def __init__(self) -> None:
        self.market = made_mirror()
        self.session = ClientSession(
            [self.market, Mirror(Feed.CRYPTO)], Limits(), among_feeds=True, connection="c1"
        )

    def open(self, **queries: Query) -> list[dict[str, Any]]:
        return parsed(self.session.open(queries))

    def ask(self, **command: Any) -> list[dict[str, Any]]:
        return parsed(self.session.receive(json.dumps(command), 0.0))


@pytest.fixture
def socket() -> Socket:
    return Socket()


def test_welcome_has_the_position_of_every_feed(socket: Socket) -> None:
    """A feed without data has none; a feed without a provider is not there."""
    assert socket.open() == [
        {
            "type": "welcome",
            "feeds": {"market": {"epoch": wire_epoch(), "seq": 1}, "crypto": {"epoch": "", "seq": 0}},
            "heartbeatMs": 15_000,
            "limits": {"symbols": 1000},
            "connection": "c1",
        }
    ]


@pytest.mark.parametrize("name", ["market", "stocks", "stock"])
def test_a_command_may_say_any_name_of_a_feed(socket: Socket, name: str) -> None:
    """Frames have the one name of the protocol."""
    [answer] = socket.ask(action="list", feed=name, id=1)
    assert (answer["type"], answer["feed"]) == ("subscribed", "market")
    [refusal] = socket.ask(action="subscribe", feed=name, symbols=7)
    assert (refusal["type"], refusal["feed"]) == ("error", "market")


def test_frames_name_their_feed(socket: Socket) -> None:
    """The feed follows the type in every frame but the pong."""
    frames = socket.open(market=Query("AAPL"))[1:]
    change = encode_change(stock("AAPL", 7.0))
    assert socket.market.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=[change]))
    market = socket.session.feeds["market"]
    update, heartbeat = market.subscription.advance()[-1], market.heartbeat("now", "live", "open")
    frames += parsed([update, heartbeat])
    assert [frame["type"] for frame in frames] == ["subscribed", "snapshot", "update", "heartbeat"]
    assert all([*frame][:2] == ["type", "feed"] for frame in frames)
    assert {frame["feed"] for frame in frames} == {"market"}
    assert frames[-1]["state"] == "live"
    assert socket.ask(action="ping") == [{"type": "pong", "timestamp": "1970-01-01T00:00:00.000Z"}]


def test_each_feed_has_its_own_list_and_interval(socket: Socket) -> None:
    """A command is for one feed."""
    socket.open(market=Query("AAPL", interval="1000"))
    socket.ask(action="subscribe", feed="crypto", symbols="all", interval=500)
    (market,) = socket.ask(action="list", feed="market", id=1)
    (crypto,) = socket.ask(action="list", feed="crypto")
    assert (market["symbols"], market["interval"], market["id"]) == (["AAPL"], 1000, 1)
    assert (crypto["symbols"], crypto["interval"]) == ("all", 500)


@pytest.mark.parametrize("feed", [{}, {"feed": "bonds"}, {"feed": ""}])
def test_a_command_without_a_feed_is_bad(socket: Socket, feed: dict[str, str]) -> None:
    """The error lists the feeds; more than ten such commands close the connection."""
    for _ in range(11):
        assert socket.session.close_code is None
        (error,) = socket.ask(action="list", id=3, **feed)
        assert error == {
            "type": "error",
            "code": 400,
            "detail": "feed: Must be one of market, crypto, doviz",
            "id": 3,
        }
    assert socket.session.close_code is CloseCode.BAD_COMMANDS


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ({"feed": "doviz", "symbols": "all"}, 404),
        ({"feed": "crypto", "symbols": ["BTC/USDT"]}, 503),
        ({"feed": "crypto", "symbols": "all", "since": "none"}, 503),
    ],
)
def test_a_feed_that_cannot_answer_says_so(socket: Socket, command: dict[str, Any], code: int) -> None:
    """It is not the client's fault: such commands never close the connection."""
    for _ in range(20):
        (error,) = socket.ask(action="subscribe", **command)
        assert (error["feed"], error["code"]) == (command["feed"], code)
    assert socket.session.close_code is None


def test_an_address_that_one_feed_refuses_serves_the_others(socket: Socket) -> None:
    """The errors stand between the answers of the other feeds."""
    frames = socket.open(market=Query("AAPL"), doviz=Query("USD"), crypto=Query("BTC/USDT"))
    said = [(frame.get("feed"), frame["type"], frame.get("code")) for frame in frames[1:]]
    assert said == [
        ("market", "subscribed", None),
        ("market", "snapshot", None),
        ("doviz", "error", 404),
        ("crypto", "error", 503),
    ]


def test_an_address_names_lists_and_cursors_by_feed() -> None:
    """The interval and the fields hold for every feed that it names."""
    query = b"market=AAPL,MSFT&crypto=all&interval=500&fields=price&since=market:e.1-2,doviz:none"
    assert queries_of(query, None) == {
        "market": Query("AAPL,MSFT", "500", "e.1-2", "price"),
        "crypto": Query("all", "500", None, "price"),
        "doviz": Query(None, "500", "none", "price"),
    }
    assert queries_of(b"interval=500", None) == {}


@pytest.mark.parametrize("since", [b"e.1-2", b"a,b,c:1,d,e,f,g,h,i,j,k,l"])
def test_cursors_of_no_feed_are_one_error(socket: Socket, since: bytes) -> None:
    """So a client that forgot the feed's name learns it."""
    _, error = socket.open(**queries_of(b"since=" + since, None))
    assert error["detail"] == "feed: Must be one of market, crypto, doviz"


def test_a_command_that_cannot_be_read_is_answered_with_its_feed(socket: Socket) -> None:
    """As its id."""
    (error,) = socket.ask(action="subscribe", feed="market", symbols=5, id=7)
    assert (error["feed"], error["id"]) == ("market", 7)
    (error,) = socket.ask(action="subscribe", feed=["market"], id=5)
    assert ("feed" in error, error["id"]) == (False, 5)
    (error,) = socket.ask(action="subscribe", feed="market", symbols=[], id=[5])
    assert (error["feed"], "id" in error) == ("market", False)


def test_the_cursor_none_is_for_all_feeds_of_an_address(socket: Socket) -> None:
    frames = socket.open(**queries_of(b"market=AAPL&since=none", None))
    assert [frame["type"] for frame in frames] == ["welcome", "subscribed", "snapshot"]
    assert frames[-1]["reason"] == "resync"
