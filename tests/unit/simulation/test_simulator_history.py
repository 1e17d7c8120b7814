"""Bars of every interval from the simulated tape."""

from datetime import UTC, datetime

import pytest

from quotecast.market.bars import Bar, Interval
from quotecast.market.feeds import Feed
from quotecast.market.reference import Stock
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.history import bars
from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.market.tape import Tape
from quotecast.simulation.market.venues import hours_of, stock_tapes

ACME = Stock("ACME", "Acme", "NYSE", "Energy", "Oil", 900_000_000, 84.2)
INTRADAY: list[Interval] = ["1m", "5m", "15m", "30m", "1h", "4h"]


def tape(*, always_open: bool) -> Tape:
    return stock_tapes([ACME], 1, hours_of(Feed.STOCKS, always_open=always_open))["ACME"].at(0)


def new_york(text: str) -> int:
    return milliseconds(datetime.fromisoformat(text).replace(tzinfo=NEW_YORK))


def merge_bars(parts: list[Bar]) -> tuple[float, float, float, float, float]:
    return (
        parts[0].open,
        max(bar.high for bar in parts),
        min(bar.low for bar in parts),
        parts[-1].close,
        sum(bar.volume for bar in parts),
    )


@pytest.mark.parametrize("always_open", [True, False])
@pytest.mark.parametrize("interval", INTRADAY)
def test_bars_of_a_day_add_up_to_the_daily_bar(interval: Interval, *, always_open: bool) -> None:
    """Intraday bars merge into the daily bar, in progress up to the same moment too."""
    start, end = new_york("2026-02-13T00:00"), new_york("2026-02-13T14:07:31.234")
    (day,) = bars(tape(always_open=always_open), "D", start + 10 * 3_600_000, end)
    assert merge_bars(list(bars(tape(always_open=always_open), interval, day_start(day), end))) == (
        day.open,
        day.high,
        day.low,
        day.close,
        day.volume,
    )


def day_start(day: Bar) -> int:
    return milliseconds(datetime.fromisoformat(day.time))


@pytest.mark.parametrize(("interval", "first"), [("W", "2026-01-05"), ("M", "2026-02-02")])
def test_weeks_and_months_are_whole_and_stamped_with_their_first_session(
    interval: Interval, first: str
) -> None:
    """Weekly and monthly bars begin with their first session, even when the range begins later."""
    market = tape(always_open=False)
    start = new_york(first)
    found = next(bars(market, interval, start + 3 * 86_400_000, new_york("2026-04-01T12:00")))
    assert day_start(found) == start
    last = new_york("2026-01-09T16:00" if interval == "W" else "2026-02-27T16:00")
    days = list(bars(market, "D", start, last))
    assert merge_bars(days) == (found.open, found.high, found.low, found.close, found.volume)


def test_intervals_are_counted_from_midnight_and_open_with_the_session() -> None:
    market = tape(always_open=False)
    start, end = new_york("2026-02-13T00:00"), new_york("2026-02-13T23:00")
    times = [bar.time for bar in bars(market, "4h", start, end)]
    assert times == ["2026-02-13T14:30:00Z", "2026-02-13T17:00:00Z"]


def test_bars_ascend_without_the_hours_in_which_nothing_trades() -> None:
    """Bars ascend, without bars between Friday's close and Monday's open."""
    market = tape(always_open=False)
    found = bars(market, "1h", new_york("2026-02-06T15:30"), new_york("2026-02-09T10:30"))
    assert [bar.time for bar in found] == [
        "2026-02-06T20:00:00Z",
        "2026-02-09T14:30:00Z",
        "2026-02-09T15:00:00Z",
    ]


def test_the_bar_in_progress_closes_with_the_latest_price() -> None:
    market = tape(always_open=True)
    end = new_york("2026-02-13T14:07:31.234")
    *_, last = bars(market, "5m", end - 3_600_000, end)
    assert last.close == market.price_at(end) / market.listing.scale
    assert datetime.fromisoformat(last.time) == datetime(2026, 2, 13, 19, 5, tzinfo=UTC)
