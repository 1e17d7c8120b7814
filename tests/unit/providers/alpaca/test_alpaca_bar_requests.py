"""Requests for bars on the free plan."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.bars import INTERVALS, Interval, opening_of_bar
from quotecast.market.calendars import EXCHANGE, NEW_YORK_DAYS
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca.bar_rows import DAY, BarRequest, delayed_range, full_range

DELAY = timedelta(minutes=16)
LENGTHS = {"1Min": 1, "5Min": 5, "15Min": 15, "30Min": 30}


def at(text: str, day: int = 19) -> datetime:
    """Returns a New York time in November 2026; the 19th is a Thursday."""
    return datetime.fromisoformat(f"2026-11-{day}T{text}").replace(tzinfo=NEW_YORK)


def describe(requests: list[BarRequest]) -> list[tuple[str, str, str, str]]:
    """Returns data feed, timeframe and range in New York time of each request."""
    return [(each.data_feed, each.timeframe, _local(each.first), _local(each.end)) for each in requests]


def _local(moment: datetime) -> str:
    return f"{moment.astimezone(NEW_YORK):%d %H:%M}"


def describe_request(interval: Interval, now: str) -> list[tuple[str, str, str, str]]:
    return describe(delayed_range(EXCHANGE, interval, at("09:30", day=18), at(now), at(now) - DELAY))


def test_last_minutes_are_left_out() -> None:
    """The free plan excludes the last minutes; minute rows replace the half hour that contains the limit."""
    assert describe_request("1h", "11:03:20") == [
        ("sip", "30Min", "18 09:30", "19 10:30"),
        ("sip", "1Min", "19 10:30", "19 10:47"),
    ]


def test_minutes_need_no_other_rows() -> None:
    assert describe_request("1m", "11:03:20") == [
        ("sip", "1Min", "18 09:30", "19 10:47"),
    ]


@pytest.mark.parametrize("interval", ["D", "W", "M"])
def test_day_in_progress_is_made_of_minutes(interval: Interval) -> None:
    """The free plan excludes the daily row of a day in progress."""
    assert describe_request(interval, "11:03:20") == [
        ("sip", "1Day", "18 09:30", "19 00:00"),
        ("sip", "1Min", "19 09:30", "19 10:47"),
    ]


def test_nothing_is_asked_of_the_hours_before_a_session() -> None:
    """A request excludes extended hours and the first minutes of a session."""
    assert describe_request("5m", "09:35") == [
        ("sip", "5Min", "18 09:30", "19 09:15"),
    ]


@pytest.mark.parametrize(
    ("now", "end"), [("16:16", "16:00"), ("23:00", "22:44"), ("04:00", "03:44"), ("09:29", "09:13")]
)
def test_closed_market_takes_one_call(now: str, end: str) -> None:
    """After the close, one request covers all consolidated-tape rows that the free plan allows."""
    assert describe_request("D", now) == [("sip", "1Day", "18 09:30", f"19 {end}")]


#: Any second of 2026.
moments = st.integers(1_767_243_600, 1_798_606_800).map(lambda time: datetime.fromtimestamp(time, UTC))


@given(st.sampled_from(INTERVALS), moments, st.timedeltas(timedelta(seconds=1), timedelta(days=90)))
def test_requests_cover_each_settled_moment_once(interval: Interval, now: datetime, back: timedelta) -> None:
    """No request includes trades that the free plan excludes."""
    first, settled = opening_of_bar(NEW_YORK_DAYS, interval, now - back), now - DELAY
    assert first
    parts = delayed_range(EXCHANGE, interval, first, now, settled)
    assert all(part.end <= settled and part.data_feed == "sip" for part in parts)
    minutes = {now - back * (number / 50) for number in range(51)}
    for minute in minutes:
        if opening_of_bar(EXCHANGE, interval, minute) and first <= minute < settled.replace(second=0):
            assert sum(_holds(part, minute) for part in parts) == 1


def _holds(part: BarRequest, moment: datetime) -> bool:
    """Returns whether the row that contains a moment begins within the request."""
    if part.timeframe == DAY:
        row = opening_of_bar(NEW_YORK_DAYS, "D", moment)
        assert row
    else:
        row = moment - (moment - at("00:00")) % timedelta(minutes=LENGTHS[part.timeframe])
    return part.first <= row < part.end


def test_parameters_name_rows_and_tape() -> None:
    """Alpaca's limits are inclusive, so `end` is one second before ours."""
    [part] = full_range("sip", "4h", at("09:30"), at("12:00"))
    assert part.parameters("BRK.B") == {
        "symbols": "BRK.B",
        "timeframe": "30Min",
        "start": "2026-11-19T14:30:00Z",
        "end": "2026-11-19T16:59:59Z",
        "adjustment": "split",
        "feed": "sip",
    }
