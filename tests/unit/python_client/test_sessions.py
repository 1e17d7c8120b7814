"""The Python client's session: waits, refusals and silence, without a socket."""

import json
from typing import Any

import pytest

from quotecast_client import StreamRefused
from quotecast_client.backoff import Backoff
from quotecast_client.endings import Ending
from quotecast_client.sessions import Session, Wishes

WELCOME = {
    "type": "welcome",
    "feeds": {"market": {"epoch": "e", "seq": 1}},
    "heartbeatMs": 4000,
    "limits": {},
}


def session(**wishes: Any) -> Session:
    return Session({"market": frozenset({"AAPL"})}, Wishes(**wishes), Backoff(lambda: 0.5))


def give(to: Session, frame: dict[str, Any]) -> list[dict[str, Any]]:
    to.take(json.dumps(frame))
    return [json.loads(command) for command in to.commands()]


def test_waits_double_until_quotes_come() -> None:
    each = session()
    assert [each.lost(Ending()) for _ in range(3)] == [0.5, 1.0, 2.0]
    give(each, WELCOME)
    assert each.lost(Ending()) == 4.0
    give(each, {"type": "snapshot", "feed": "market", "epoch": "e", "seq": 1, "reason": "resync", "data": []})
    assert each.lost(Ending()) == 0.5


def test_waits_end_at_half_a_minute() -> None:
    each = session()
    assert max(each.lost(Ending()) for _ in range(12)) == 30.0


def test_a_shutdown_says_how_long_to_wait() -> None:
    each = session()
    give(each, {"type": "shutdown", "retryAfterMs": 2731})
    assert each.lost(Ending(1012)) == pytest.approx(2.731)
    assert each.lost(Ending()) == 0.5


def test_a_full_service_says_how_long_to_wait() -> None:
    assert session().lost(Ending(503, retry_after=9.0)) == 9.0


def test_a_final_end_is_an_error() -> None:
    each = session()
    with pytest.raises(StreamRefused, match="4400"):
        each.lost(Ending(4400, is_final=True))
    assert each.states == {"market": "refused"}


@pytest.mark.parametrize(
    ("code", "close_code", "detail"),
    [
        (401, 4401, "The API key has expired"),
        (403, 4403, 'Plan "free" includes doviz only'),
    ],
)
def test_a_refused_key_ends_the_stream_with_the_reason(code: int, close_code: int, detail: str) -> None:
    each = session()
    assert not give(each, {"type": "error", "code": code, "detail": detail})
    with pytest.raises(StreamRefused) as caught:
        each.lost(Ending(close_code, is_final=True))
    assert (caught.value.code, caught.value.message) == (close_code, detail)


@pytest.mark.parametrize(("code", "close_code"), [(403, 4452), (403, 4453), (503, 4451)])
def test_changed_rights_and_full_plans_are_waits_that_grow(code: int, close_code: int) -> None:
    each = session()
    for wait in (0.5, 1.0, 2.0):
        give(each, {"type": "error", "code": code, "detail": "later"})
        assert each.lost(Ending(close_code)) == wait
    give(each, WELCOME)
    with pytest.raises(StreamRefused, match="bad commands"):
        each.lost(Ending(4400, "bad commands", is_final=True))


def test_symbols_that_the_service_does_not_know_have_names() -> None:
    each = session()
    give(each, WELCOME)
    answer = {"type": "subscribed", "feed": "market", "symbols": [], "interval": 250}
    give(each, {**answer, "rejected": [{"symbol": "NOPE", "code": 404}]})
    assert each.rejected == {"market:NOPE"}


def test_silence_is_two_heartbeats() -> None:
    each = session()
    assert each.silence == 30.0
    give(each, WELCOME)
    assert each.silence == 8.0


def test_a_feed_without_data_is_asked_again_at_its_first_heartbeat() -> None:
    each = session()
    assert len(give(each, WELCOME)) == 1
    assert not give(each, {"type": "error", "feed": "market", "code": 503, "detail": "no data"})
    assert each.states == {"market": "down"}
    beat = {"type": "heartbeat", "feed": "market", "epoch": "e", "seq": 2, "market": "open"}
    assert not give(each, {**beat, "state": "down"})
    assert len(give(each, {**beat, "state": "live"})) == 1


def test_a_service_without_the_feed_is_an_error() -> None:
    with pytest.raises(StreamRefused, match="has no feed market"):
        give(session(), {**WELCOME, "feeds": {}})


def test_a_command_that_the_service_rejects_is_an_error() -> None:
    with pytest.raises(StreamRefused, match="at most 1000"):
        give(session(), {"type": "error", "feed": "market", "code": 400, "detail": "at most 1000 symbols"})


@pytest.mark.parametrize(
    ("wanted", "least", "asked"),
    [(250, 0, 250), (250, 1000, 1000), (5000, 1000, 5000), (100, 600, 1000), (100, 9000, 5000)],
)
def test_a_plan_with_a_least_interval_gets_that_one(wanted: int, least: int, asked: int) -> None:
    (command,) = give(session(interval=wanted), {**WELCOME, "limits": {"symbols": 2, "interval": least}})
    assert command["interval"] == asked


def test_bars_are_asked_for_with_the_time_of_the_last_marker() -> None:
    each = session(bars="1m")
    give(each, WELCOME)
    subscribed = {"type": "subscribed", "feed": "market", "symbols": ["AAPL"], "rejected": [], "bars": "1m"}
    give(each, subscribed)
    bars = {"type": "bars", "feed": "market", "epoch": "", "seq": 0, "interval": "1m", "data": []}
    give(each, {**bars, "reason": "subscribe"})
    assert each.feeds_without_bars() == []
    give(each, {"type": "snapshot", "feed": "market", "epoch": "e", "seq": 1, "reason": "resync", "data": []})
    assert each.feeds_without_bars() == ["market"]
    give(each, {**bars, "epoch": "e", "seq": 2, "closed": {"time": "2026-11-20T15:31:00Z", "count": 0}})
    (command,) = give(each, WELCOME)
    assert (command["since"], command["bars"], command["barsSince"]) == ("e-2", "1m", "2026-11-20T15:31:00Z")
