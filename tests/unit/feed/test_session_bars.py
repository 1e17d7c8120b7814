"""A session with live bars: what it asks for, and the frames that begin, close and resume bars."""

import json
from typing import Any

import pytest

from quotecast.bus.base import RECENT_CLOSINGS, Batch, Change
from quotecast.bus.wire import encode_change
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import Query
from quotecast.feed.encoding import ROWS
from quotecast.feed.frames import Limits
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.subscription import MAX_ENCODED
from quotecast.feed.tiers import Connection
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from quotecast.stream.queries import queries_of
from support.made.market import EPOCH, stock, wire_epoch
from support.stages.feed_session import MarketSession, parsed
from unit.feed.bar_market import BarMarket

FIRST_MINUTE = "2026-11-20T15:00:00Z"
SECOND_MINUTE = "2026-11-20T15:01:00Z"
ERROR = "bars: Must be one of 1m, 5m, 15m, 1h, D, none"


@pytest.fixture
def market() -> BarMarket:
    return BarMarket()


def opened(market: BarMarket, **query: str) -> tuple[MarketSession, list[dict[str, Any]]]:
    session = MarketSession(market.mirror)
    return session, parsed(session.greet(Query(**{"bars": "1m", "symbols": "all"} | query)))


def advanced(session: MarketSession) -> list[dict[str, Any]]:
    return parsed(session.subscription.advance())


def asked(session: MarketSession, **command: Any) -> list[dict[str, Any]]:
    return parsed(session.receive(json.dumps({"action": "subscribe"} | command), 0.0))


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame.get("reason") or ("closed" if "closed" in frame else frame["type"]) for frame in frames]


def test_bars_begin_before_the_snapshot(market: BarMarket) -> None:
    """The answer confirms the interval; the frame has the cursor of a client without a copy."""
    _, (_, subscribed, bars, snapshot) = opened(market, symbols="AAPL")
    assert subscribed["bars"] == "1m"
    bar = {
        "ticker": "AAPL",
        "time": FIRST_MINUTE,
        "open": 100.0,
        "high": 100.0,
        "low": 100.0,
        "close": 100.0,
        "volume": 0.0,
        "updates": 1,
        "final": False,
    }
    expected = {"type": "bars", "epoch": "", "seq": 0, "interval": "1m", "reason": "subscribe", "data": [bar]}
    assert bars == expected
    assert snapshot["type"] == "snapshot"


def test_without_bars_the_frames_are_as_before(market: BarMarket) -> None:
    """Neither the answer nor an update mentions bars."""
    session, frames = opened(market, bars="none")
    assert "bars" not in frames[1]
    market.trade("AAPL", 101.0, seconds=70)
    assert kinds(frames[1:] + advanced(session)) == ["subscribed", "subscribe", "update"]


def test_a_tick_sends_final_bars_then_bars_in_progress_then_the_update(market: BarMarket) -> None:
    """Frames before the last one have the cursor of before, so that a cut repeats and never loses."""
    session, _ = opened(market)
    market.trade("AAPL", 101.0, seconds=70)
    closed, progress, update = advanced(session)
    assert closed["closed"] == {"time": SECOND_MINUTE, "count": 3}
    assert {bar["time"] for bar in closed["data"]} == {FIRST_MINUTE}
    assert all(bar["final"] for bar in closed["data"])
    assert [(bar["ticker"], bar["time"], bar["final"]) for bar in progress["data"]] == [
        ("AAPL", SECOND_MINUTE, False)
    ]
    assert [frame["seq"] for frame in (closed, progress, update)] == [1, 1, 2]
    assert not any("reason" in frame for frame in (closed, progress))


def test_a_marker_counts_none_of_the_list(market: BarMarket) -> None:
    """An interval that ended without bars of the list has an empty frame, which carries the new cursor."""
    session, _ = opened(market, symbols="AAPL")
    market.wait(63)
    advanced(session)
    market.trade("MSFT", 101.0, seconds=10)
    market.wait(60)
    (frame,) = advanced(session)
    assert (frame["data"], frame["closed"]["count"]) == ([], 0)
    assert frame["seq"] == market.mirror.mark.seq


def test_a_list_without_symbols_has_no_bars(market: BarMarket) -> None:
    """Not even markers."""
    session, frames = opened(market, symbols="")
    market.wait(63)
    assert kinds(frames[1:]) == ["subscribed"]
    assert advanced(session) == []


@pytest.mark.parametrize(("since", "minutes"), [("15:01:00Z", 2), ("15:02:00+00:00", 1), ("15:03:00", 0)])
def test_bars_since_brings_what_became_final_after_it(market: BarMarket, since: str, minutes: int) -> None:
    """The first frame has the reason; the bars in progress follow."""
    for price in (101.0, 102.0, 103.0):
        market.trade("AAPL", price, seconds=60)
    market.wait(3)
    _, frames = opened(market, bars_since=f"2026-11-20T{since}")
    bars = [frame for frame in frames if frame["type"] == "bars"]
    assert kinds(bars)[0] == "resume"
    assert [bar["closed"]["time"][14:16] for bar in bars if "closed" in bar] == ["02", "03"][2 - minutes :]
    assert [bar["ticker"] for bar in bars[-1]["data"] if not bar["final"]] == ["AAPL"]


def test_a_cursor_alone_brings_closings_past_it(market: BarMarket) -> None:
    """The frames have the client's own cursor, until the snapshot."""
    cursor = f"{wire_epoch()}-{market.mirror.mark.seq}"
    market.trade("AAPL", 101.0, seconds=70)
    _, (_, _, closed, progress, snapshot) = opened(market, since=cursor)
    assert kinds([closed, progress, snapshot]) == ["resume", "bars", "resume"]
    assert closed["closed"]["count"] == 3
    assert [frame["seq"] for frame in (closed, progress, snapshot)] == [1, 1, 2]


@pytest.mark.parametrize(
    "query",
    [
        {"since": "none"},
        {"since": "other-1"},
        {"bars_since": "2026-11-20T14:00:00Z"},
        {"bars_since": "0001-01-01"},
        {"bars_since": "9999-12-31T23:59:59-23:59"},
        {"bars_since": "2026-11-20T15:09:00Z"},
        {"since": "other-1", "bars_since": "2026-11-20T14:00:00Z"},
    ],
    ids=str,
)
def test_a_position_that_is_not_known_here_starts_over(market: BarMarket, query: dict[str, str]) -> None:
    """Bars of long ago, of the future, or of another epoch are read from REST."""
    market.trade("AAPL", 101.0, seconds=70)
    _, frames = opened(market, **query)
    (bars,) = [frame for frame in frames if frame["type"] == "bars"]
    assert bars["reason"] == "resync"
    assert [bar["final"] for bar in bars["data"]] == [False]


def test_a_new_epoch_resumes_bars_by_their_time(market: BarMarket) -> None:
    """Quotes start over, and bars go on."""
    cursor = f"{wire_epoch()}-{market.mirror.mark.seq}"
    market.trade("AAPL", 101.0, seconds=70)
    market.take_over("0000000000bb00000001", closings=1)
    _, frames = opened(market, since=cursor, bars_since=FIRST_MINUTE)
    assert kinds(frames[2:]) == ["resume", "bars", "resync"]
    assert frames[2]["epoch"] == ""


def test_a_worker_that_missed_few_closings_sends_them(market: BarMarket) -> None:
    """Its mirror was loaded again between two updates, without a reconnection."""
    session, _ = opened(market, symbols="AAPL")
    market.reload(missed=RECENT_CLOSINGS)
    *bars, _ = advanced(session)
    final = [bar["time"] for frame in bars for bar in frame["data"] if bar["final"]]
    assert final[:2] == [FIRST_MINUTE, SECOND_MINUTE]
    assert len(final) == RECENT_CLOSINGS - 1


def test_a_worker_that_lost_closings_says_so(market: BarMarket) -> None:
    """The bus has the newest closings only, so those before them may be missing."""
    session, _ = opened(market)
    market.reload(missed=RECENT_CLOSINGS + 1)
    bars, update = advanced(session)
    assert kinds([bars, update]) == ["resync", "update"]
    assert bars["seq"] < update["seq"]


def test_added_symbols_begin_their_bars(market: BarMarket) -> None:
    """The bars of the others go on, with the cursor of before the snapshot."""
    session, _ = opened(market, symbols="AAPL")
    market.trade("AAPL", 101.0, seconds=70)
    frames = asked(session, symbols=["MSFT", "TSLA"])
    assert kinds(frames) == ["closed", "bars", "update", "subscribed", "subscribe", "subscribe"]
    assert frames[0]["closed"]["count"] == 1
    assert frames[4]["data"] == []


def test_another_interval_begins_all_bars(market: BarMarket) -> None:
    """Pending bars of the old interval do not come."""
    session, _ = opened(market)
    market.trade("AAPL", 101.0, seconds=70)
    update, subscribed, bars = asked(session, bars="5m")
    assert (update["type"], subscribed["bars"], bars["reason"]) == ("update", "5m", "subscribe")
    assert {bar["time"] for bar in bars["data"]} == {FIRST_MINUTE}
    assert len(bars["data"]) == 3
    (none,) = asked(session, bars="none")
    assert "bars" not in none


def test_a_command_may_resume_bars(market: BarMarket) -> None:
    """Each final bar comes once, though the client has not received it yet."""
    session, _ = opened(market)
    market.trade("AAPL", 101.0, seconds=70)
    frames = asked(session, barsSince=FIRST_MINUTE)
    assert kinds(frames) == ["update", "subscribed", "resume", "bars"]
    assert frames[2]["closed"]["count"] == 3
    assert advanced(session) == []


def test_other_fields_lose_no_bar(market: BarMarket) -> None:
    """The snapshot replaces quotes only."""
    session, _ = opened(market)
    market.trade("AAPL", 101.0, seconds=70)
    frames = asked(session, fields=["price"])
    assert kinds(frames) == ["closed", "bars", "update", "subscribed", "resync"]


@pytest.mark.parametrize("interval", ["2m", "", "1M", "ALL"])
def test_an_unknown_interval_is_an_error_that_names_the_known(market: BarMarket, interval: str) -> None:
    """In the address and in a command; the subscription is unchanged."""
    session, frames = opened(market, bars=interval)
    assert (frames[1]["code"], frames[1]["detail"]) == (400, ERROR)
    (error,) = asked(session, bars=interval)
    assert (error["code"], error["detail"]) == (400, ERROR)


@pytest.mark.parametrize("time", ["", "yesterday", "1795186800", "99999-01-01", "2026-11-20T25:00:00Z"])
def test_a_time_that_is_none_is_an_error(market: BarMarket, time: str) -> None:
    """The error shows the form; a time without a zone is in UTC."""
    session, frames = opened(market, bars_since=time)
    assert frames[1]["code"] == 400
    assert "2026-11-22T13:31:00Z" in frames[1]["detail"]
    assert asked(session, bars="1m", barsSince=time)[0]["code"] == 400


def test_a_time_needs_bars(market: BarMarket) -> None:
    """Without bars there is nothing to resume."""
    session, frames = opened(market, bars="none", bars_since=FIRST_MINUTE)
    assert frames[1]["detail"] == "barsSince: Must be given together with `bars`"
    assert asked(session, barsSince=FIRST_MINUTE)[0]["code"] == 400


def test_rows_name_their_columns_with_each_reason(market: BarMarket) -> None:
    """A row has all columns."""
    session = MarketSession(market.mirror, ROWS)
    (_, _, bars, _) = parsed(session.greet(Query("AAPL", bars="1m")))
    names = ["ticker", "time", "open", "high", "low", "close", "volume", "updates", "final"]
    assert bars["columns"] == names
    assert bars["data"] == [["AAPL", FIRST_MINUTE, 100.0, 100.0, 100.0, 100.0, 0.0, 1, False]]
    market.trade("AAPL", 101.0, seconds=70)
    assert not any("columns" in frame for frame in advanced(session))


def test_each_feed_of_an_address_has_bars() -> None:
    """`bars` holds for every feed, `bars_since` for the one that it names."""
    address = b"market=all&crypto=all&bars=5m&bars_since=crypto:2026-11-20T15:00:00Z,doviz:x&since=crypto:a-1"
    assert queries_of(address, None) == {
        "market": Query("all", bars="5m"),
        "crypto": Query("all", since="a-1", bars="5m", bars_since="2026-11-20T15:00:00Z"),
    }
    assert queries_of(b"bars=1m&bars_since=x", Feed.DOVIZ) == {"doviz": Query(bars="1m", bars_since="x")}


def test_frames_of_bars_name_their_feed(market: BarMarket) -> None:
    """As all frames on the socket of all feeds do."""
    session = ClientSession([market.mirror], Limits(), among_feeds=True)
    frames = parsed(session.open({"market": Query("all", bars="D")}))
    assert [(frame["type"], frame["feed"]) for frame in frames[1:]] == [
        ("subscribed", "market"),
        ("bars", "market"),
        ("snapshot", "market"),
    ]


def test_unreadable_bars_do_not_stop_the_quotes(market: BarMarket) -> None:
    """Another version wrote them; the quote of the same change can be read."""
    session, _ = opened(market, symbols="AAPL")
    encoded = encode_change(stock("AAPL", 7.0))
    change = Change(quote=encoded.quote, key=encoded.key, bars=b"\xc1")
    seq = market.mirror.mark.seq + 1
    assert market.mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=[change]))
    assert kinds(advanced(session)) == ["update"]


class Socket:
    def __init__(self) -> None:
        self.ready = True
        self.paused_at = 0.0
        self.frames: list[Frame] = []

    def write(self, frame: Frame) -> None:
        self.frames.append(frame)


def joined(hub: Hub, mirror: Mirror, **query: str) -> Socket:
    socket, session = Socket(), MarketSession(mirror)
    session.greet(Query("all", **query))
    hub.join(Connection(session.feed, socket, lambda _: True))
    return socket


def test_equal_subscriptions_share_the_frames_of_a_tick(market: BarMarket) -> None:
    """All of them, in order; a client without bars has frames of its own."""
    hub = Hub(
        market.mirror, heartbeat_seconds=15, clock=lambda: 0.0, wall_clock=lambda: 0.0, market=lambda: "open"
    )
    sockets = [joined(hub, market.mirror, bars="1m") for _ in range(2)]
    plain = joined(hub, market.mirror)
    hub.tick(250)
    for socket in (*sockets, plain):
        socket.frames.clear()
    market.trade("AAPL", 101.0, seconds=70)
    hub.tick(250)
    assert kinds(parsed(sockets[0].frames)) == ["closed", "bars", "update"]
    assert all(one is other for one, other in zip(*(socket.frames for socket in sockets), strict=True))
    assert kinds(parsed(plain.frames)) == ["update"]


def test_encoded_bars_are_shared_and_few(market: BarMarket) -> None:
    """A bar is encoded once per style; those of old closings are forgotten."""
    sessions = [opened(market, symbols=symbols)[0] for symbols in ("all", "AAPL,MSFT")]
    for price in range(MAX_ENCODED + 3):
        market.trade("AAPL", 101.0 + price, seconds=60)
        for session in sessions:
            advanced(session)
    assert len(market.mirror.bars.encoded) == MAX_ENCODED
    assert all(list(encoded) == ["AAPL"] for encoded in market.mirror.bars.encoded.values())
