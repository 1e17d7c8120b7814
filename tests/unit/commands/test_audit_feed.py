"""`quotecast audit` over made frames: what counts as a gap, a step back, a silence, and what does not."""

import json
from typing import Any

import pytest

from quotecast.commands.auditing.report import FeedAuditReport
from quotecast.commands.auditing.session import AuditRefused, ServiceAudit, read_address
from quotecast.errors import SettingsError
from support.made.audit_frames import heartbeat, iso, moment, quote, snapshot, subscribed, update, welcome

URL = "ws://127.0.0.1:8000/api/ws/market?symbols=all"


class Played:
    """An audit of `URL` that has taken the beginning of a connection."""

    def __init__(self, url: str = URL) -> None:
        self.service = ServiceAudit(read_address(url, None), moment(0))

    def take(self, *frames: dict[str, Any], seconds: float = 0.0) -> "Played":
        for frame in frames:
            self.service.take(json.dumps(frame), moment(seconds))
        return self

    def report(self, seconds: float = 10.0) -> FeedAuditReport:
        return self.service.report(moment(seconds)).feeds["market"]


@pytest.fixture
def played() -> Played:
    return Played().take(welcome(), subscribed(), snapshot(5, quote(), quote("MSFT")))


def test_quotes_of_updates_are_counted(played: Played) -> None:
    """The quotes of the snapshot are none of the feed's rate."""
    played.take(update(6, quote(seconds=1), quote("MSFT", 1)), seconds=1)
    report = played.report(10)
    assert (report.messages, report.quotes, report.symbols) == (4, 2, 2)
    assert (report.messages_per_second, report.quotes_per_second) == (0.4, 0.2)


def test_ages_are_by_the_clock_of_the_service(played: Played) -> None:
    """The service's clock is 5 s ahead, as its pong says, so a quote of that much ahead is new."""
    sent = json.loads(played.service.ping(moment(1.0)))
    pong = {"type": "pong", "id": sent["id"], "timestamp": iso(6.05)}
    played.take(update(6, quote(seconds=6)), seconds=1.05).take(pong, seconds=1.1)
    report = played.service.report(moment(2))
    assert report.clock
    assert report.clock.offset == pytest.approx(5000, abs=1)
    assert report.clock.round_trip == pytest.approx(100, abs=1)
    assert report.feeds["market"].ages.max == pytest.approx(50, abs=1)
    assert report.feeds["market"].ages.ahead == 0


def test_a_pong_of_another_ping_says_nothing(played: Played) -> None:
    played.take({"type": "pong", "id": "other", "timestamp": iso(60)}, {"type": "pong", "timestamp": iso(60)})
    assert played.service.report(moment(1)).clock is None


def test_silences_are_of_frames_heartbeats_and_symbols(played: Played) -> None:
    played.take(heartbeat(5), seconds=15).take(update(6, quote(seconds=16)), seconds=16)
    played.take(heartbeat(6), seconds=40)
    silences = played.report(41).silences
    assert (silences.frame, silences.heartbeat, silences.late_heartbeats) == (24.0, 25.0, 1)
    assert silences.symbols == {"MSFT": 41.0, "AAPL": 25.0}


@pytest.mark.parametrize(("seq", "gaps"), [(5, 0), (6, 0), (7, 1)])
def test_a_heartbeat_ahead_of_the_frames_is_a_gap(played: Played, seq: int, gaps: int) -> None:
    """One batch may close bars alone, and changes no quote."""
    report = played.take(heartbeat(seq), seconds=1).report()
    assert report.gaps
    assert report.gaps.sequence == gaps


def test_of_some_symbols_a_heartbeat_ahead_is_no_gap() -> None:
    """Other symbols changed."""
    played = Played("ws://127.0.0.1:8000/api/ws/market?symbols=AAPL")
    report = played.take(welcome(), snapshot(5, quote()), heartbeat(90)).report()
    assert report.gaps
    assert report.gaps.sequence == 0


def test_a_new_epoch_is_counted(played: Played) -> None:
    report = played.take(update(1, quote(seconds=1), epoch="b"), heartbeat(1, epoch="b")).report()
    assert report.gaps
    assert (report.gaps.epochs, report.gaps.sequence, report.backwards.cursors) == (1, 0, 0)


def test_a_resync_is_counted_but_the_first_snapshot(played: Played) -> None:
    report = played.take(welcome(), snapshot(9, quote(), reason="resync")).report()
    assert report.gaps
    assert report.gaps.resyncs == 1


def test_a_resumed_connection_is_no_gap(played: Played) -> None:
    """A worker may lag: its welcome and its heartbeats before the quotes say nothing."""
    played.take(welcome(), heartbeat(3), snapshot(5, reason="resume"), update(7, quote(seconds=1)))
    report = played.report()
    assert report.gaps
    assert (report.gaps.total, report.backwards.total) == (0, 0)


def test_a_cursor_that_goes_back_is_counted(played: Played) -> None:
    report = played.take(update(4, quote(seconds=1))).report()
    assert (report.backwards.cursors, report.backwards.timestamps) == (1, 0)


def test_a_quote_that_goes_back_in_time_is_counted(played: Played) -> None:
    report = played.take(update(6, quote(seconds=-1)), update(7, quote("MSFT", 2))).report()
    assert (report.backwards.cursors, report.backwards.timestamps) == (0, 1)


def test_changes_of_the_state_are_told_once(played: Played) -> None:
    for seconds, state in ((1, "live"), (2, "live"), (3, "stale"), (4, "live")):
        played.take(heartbeat(5, state), seconds=seconds)
    states = played.report().states
    assert states
    assert [(each.seconds, each.state) for each in states] == [(1, "live"), (3, "stale"), (4, "live")]


def test_unknown_symbols_are_named() -> None:
    played = Played("ws://127.0.0.1:8000/api/ws/market?symbols=AAPL,XXXX")
    assert list(played.take(welcome(), subscribed("XXXX")).report().rejected) == ["XXXX"]


@pytest.mark.parametrize(
    "message", ["{", "[]", "7", '{"epoch":"a"}', '{"type":"update","epoch":"a","seq":1,"data":[{}]}']
)
def test_a_message_that_is_no_frame_is_counted(played: Played, message: str) -> None:
    played.service.take(message, moment(1))
    assert played.service.report(moment(2)).unreadable == 1


def test_a_removed_symbol_is_gone(played: Played) -> None:
    report = played.take(update(6, removed=["MSFT"]), seconds=1).report()
    assert report.symbols == 1
    assert "MSFT" not in report.silences.symbols


def test_rest_is_compared_with_the_quotes_of_frames(played: Played) -> None:
    feed = played.service.feeds["market"]
    assert feed.agreement.sample(9) == ["AAPL", "MSFT"]


def shared(kind: str, feed: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "feed": feed, **more}


def test_the_socket_of_all_feeds_has_figures_of_each() -> None:
    """A feed without a provider is left out; rows have the columns of their feed."""
    played = Played("ws://127.0.0.1:8000/api/ws")
    played.take({"type": "welcome", "feeds": {}, "heartbeatMs": 1000})
    played.take(shared("error", "doviz", code=404, detail="no provider"))
    played.take(snapshot(5, reason="subscribe") | {"feed": "market", "columns": ["ticker", "price"]})
    played.take(update(6) | {"feed": "market", "data": [["AAPL", 1.0]]})
    played.take(shared("heartbeat", "crypto", epoch="c", seq=1, timestamp=iso(0), state="stale"))
    report = played.service.report(moment(1))
    assert [*report.feeds] == ["market", "crypto"]
    assert report.unreadable == 0
    states = report.feeds["crypto"].states
    assert states
    assert states[0].state == "stale"
    assert "since=market:" in played.service.url


@pytest.mark.parametrize(
    ("code", "error"), [(404, AuditRefused), (422, AuditRefused), (503, ConnectionError)]
)
def test_an_error_ends_the_audit_or_the_connection(code: int, error: type[Exception]) -> None:
    """503 passes; the others are final."""
    with pytest.raises(error, match="no such"):
        Played().take({"type": "error", "code": code, "detail": "no such"})


def test_the_next_connection_has_the_cursor(played: Played) -> None:
    assert played.service.url.endswith("?symbols=all&since=01a1fbdce3accb15dff6.fe29-5")


@pytest.mark.parametrize(
    ("url", "rest"),
    [
        ("wss://quotes.example.com/api/ws/market", "https://quotes.example.com"),
        ("ws://127.0.0.1:8000/prices/api/ws?crypto=BTC/USDT", "http://127.0.0.1:8000/prices"),
    ],
)
def test_rest_has_the_address_of_the_feed(url: str, rest: str) -> None:
    assert read_address(url, None).rest == rest
    assert read_address(url, "http://other:1/").rest == "http://other:1"


def test_without_symbols_an_address_means_all() -> None:
    assert read_address("ws://a/api/ws/crypto", None).feeds == {"crypto": True}
    assert read_address("ws://a/api/ws", None).feeds == {"market": True, "crypto": True, "doviz": True}
    assert read_address("ws://a/api/ws?crypto=ALL&doviz=USD", None).feeds == {"crypto": True, "doviz": False}


@pytest.mark.parametrize(
    "url",
    [
        "http://a/api/ws/market",
        "ws://a/feed",
        "ws://a/api/ws/stocks",
        "ws:///api/ws",
        "AAPL",
        "ws://a/api/ws?at=1",
    ],
)
def test_an_address_of_no_live_feed_is_refused(url: str) -> None:
    with pytest.raises(SettingsError):
        read_address(url, None)
