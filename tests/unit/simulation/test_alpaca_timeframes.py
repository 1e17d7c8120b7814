"""Alpaca's timeframes."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.vendors.alpaca.errors import BadQuery
from quotecast.simulation.vendors.alpaca.timeframes import Timeframe, timeframe_of

UTC_ZONE = ZoneInfo("UTC")


@pytest.mark.parametrize(
    ("text", "timeframe"),
    [
        ("1Min", Timeframe("minute", 1)),
        ("59Min", Timeframe("minute", 59)),
        ("5T", Timeframe("minute", 5)),
        ("1min", Timeframe("minute", 1)),
        ("23Hour", Timeframe("minute", 23 * 60)),
        ("4H", Timeframe("minute", 240)),
        ("1Day", Timeframe("day", 1)),
        ("D", Timeframe("day", 1)),
        ("1Week", Timeframe("week", 1)),
        ("1M", Timeframe("month", 1)),
        ("12Month", Timeframe("month", 12)),
    ],
)
def test_timeframe_is_read(text: str, timeframe: Timeframe) -> None:
    assert timeframe_of(text) == timeframe


@pytest.mark.parametrize(
    "text", ["", "Foo", "0Min", "60Min", "24Hour", "2Day", "5Month", "1min ", "-1Min", "1m"]
)
def test_other_text_is_no_timeframe(text: str) -> None:
    with pytest.raises(BadQuery, match="invalid timeframe"):
        timeframe_of(text)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("1Min", "2026-11-20T15:37:00Z"),
        ("45Min", "2026-11-20T15:00:00Z"),
        ("7Hour", "2026-11-20T14:00:00Z"),
        ("1Day", "2026-11-20T05:00:00Z"),
        ("1Week", "2026-11-16T05:00:00Z"),
        ("1Month", "2026-11-01T04:00:00Z"),
        ("3Month", "2026-10-01T04:00:00Z"),
        ("12Month", "2026-01-01T05:00:00Z"),
    ],
)
def test_bars_begin_in_utc_and_their_days_in_new_york(text: str, start: str) -> None:
    moment = datetime(2026, 11, 20, 15, 37, 25, tzinfo=UTC)
    assert timeframe_of(text).start_of(moment, NEW_YORK) == datetime.fromisoformat(start)


def test_days_of_pairs_begin_in_utc() -> None:
    moment = datetime(2026, 11, 20, 2, tzinfo=UTC)
    assert timeframe_of("1D").start_of(moment, UTC_ZONE) == datetime(2026, 11, 20, tzinfo=UTC)
