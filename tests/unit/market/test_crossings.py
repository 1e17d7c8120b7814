"""Crossings of thresholds, where the rule is in doubt."""

import pytest
from msgspec.structs import replace

from quotecast.bus.base import FeedInfo
from quotecast.ingest.ledger import Ledger
from quotecast.market.codec import iso_utc
from quotecast.market.crossings import PAST_CLOSINGS, CrossingId, Measure, PastPrices, Thresholds
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, OwnBar
from quotecast.market.quotes import StockQuote
from quotecast.providers.base import Update
from support.made.bar_days import MORNING
from support.made.market import stock

#: Half past ten in New York: the exchange is open.
OPEN = MORNING + int(4.5 * 3600)
CLOSED = MORNING + 14 * 3600
MONDAY = MORNING + 3 * 86_400


def ledger_with(*thresholds: Thresholds) -> Ledger:
    ledger = Ledger(Feed.STOCKS)
    ledger.crossings.levels = {"AAPL": thresholds}
    return ledger


def both(measure: Measure, *values: float) -> Thresholds:
    return Thresholds(measure, values, values)


def aapl(
    price: float, at: float, percent: float | None = None, previous_close: float | None = 99.0
) -> StockQuote:
    return replace(
        stock("AAPL", price), timestamp=iso_utc(at), change_percent=percent, previous_close=previous_close
    )


def take(
    ledger: Ledger, price: float, at: float, traded: float | None = None, **more: float | None
) -> list[tuple[Measure, float, float]]:
    """Applies an update of the present, or of an earlier trade; returns its crossings."""
    ledger.take(Update([aapl(price, at if traded is None else traded, **more)]), at, heard_at=at)
    return [(each.measure, each.before, each.value) for each in ledger.crossings.take_waiting()]


@pytest.mark.parametrize(
    ("before", "value", "crosses"),
    [
        (99.0, 100.0, True),
        (100.0, 101.0, False),
        (99.0, 101.0, True),
        (100.0, 100.0, False),
        (101.0, 100.0, True),
        (100.0, 99.0, False),
        (101.0, 99.0, True),
        (98.0, 99.0, False),
    ],
)
def test_a_value_that_equals_the_threshold_has_crossed_it(
    before: float, value: float, *, crosses: bool
) -> None:
    assert both("price", 100.0).are_crossed(before, value) == crosses


def test_a_step_over_many_thresholds_is_one_crossing() -> None:
    """The writer finds every alert between the two values."""
    ledger = ledger_with(both("price", 100.0, 101.0, 102.0))
    take(ledger, 99.5, OPEN)
    assert take(ledger, 103.0, OPEN + 1) == [("price", 99.5, 103.0)]
    assert take(ledger, 104.0, OPEN + 2) == []


def test_thresholds_of_one_direction_ignore_the_other() -> None:
    ledger = ledger_with(Thresholds("price", (100.0,), ()))
    take(ledger, 101.0, OPEN)
    assert take(ledger, 99.0, OPEN + 1) == []
    assert take(ledger, 101.0, OPEN + 2) == [("price", 99.0, 101.0)]


def test_a_first_quote_crosses_nothing_nor_one_after_a_removal() -> None:
    ledger = ledger_with(both("price", 100.0))
    assert take(ledger, 99.0, OPEN) == []
    ledger.take(Update(removed=["AAPL"]), OPEN + 1, heard_at=OPEN + 1)
    assert take(ledger, 101.0, OPEN + 2) == []


def test_a_takeover_between_two_ticks_changes_nothing() -> None:
    """The value before is that of the last quote on the bus."""
    old = ledger_with(both("price", 100.0), both("5m", 1.0))
    for minute in range(10):
        take(old, 99.0, OPEN + 60 * minute)
    state = old.begin("e", FeedInfo(provider=""))
    new = ledger_with(both("price", 100.0), both("5m", 1.0))
    new.inherit(state, same_provider=True, past=[*old.crossings.past.closings])
    assert take(new, 100.5, OPEN + 600) == [("price", 99.0, 100.5), ("5m", 0.0, 1.515151515)]


def test_nothing_crosses_between_two_providers() -> None:
    ledger = ledger_with(both("price", 100.0))
    for number, (provider, price, found) in enumerate(
        [("a", 99.0, 0), ("a", 101.0, 1), ("b", 99.0, 0), ("b", 101.0, 1), ("a", 99.0, 0)]
    ):
        at = OPEN + number
        ledger.take(Update([aapl(price, at)], complete=True), at, provider=provider, heard_at=at)
        assert len(ledger.crossings.take_waiting()) == found


def test_prices_cross_while_the_market_is_closed() -> None:
    """A window then reaches back from the last bar of trading hours."""
    ledger = ledger_with(both("price", 100.0), both("5m", 3.0))
    close = MORNING + 10 * 3600
    for minute in range(30, 0, -1):
        take(ledger, 99.0, close - 60 * minute)
    take(ledger, 99.5, close + 600)
    assert take(ledger, 102.5, close + 1200) == [("price", 99.5, 102.5), ("5m", 0.505050505, 3.535353535)]


@pytest.mark.parametrize("known", [True, False])
def test_no_window_reaches_over_the_night_of_a_split(*, known: bool) -> None:
    """Bars of the day before are in old shares. The previous close is in new ones, or unknown at first."""
    ledger = ledger_with(*(both(measure, -5.0, 5.0) for measure in ("5m", "15m", "1h")))
    close, morning = MORNING + 10 * 3600, MONDAY
    for minute in range(90, 0, -1):
        take(ledger, 400.0, close - 60 * minute, previous_close=399.0)
    # The provider first divides the prices of the last session.
    assert take(ledger, 100.0, morning, traded=close, previous_close=99.75 if known else None) == []
    opened, previous = morning + int(3.5 * 3600), 100.0 if known else None
    for minute in range(70):
        assert take(ledger, 101.0, opened + 60 * minute, previous_close=previous) == []
    assert take(ledger, 95.0, opened + 4200, previous_close=previous) == [
        (measure, 0.0, -5.940594059) for measure in ("5m", "15m", "1h")
    ]


def test_a_window_reaches_over_a_night_without_a_split() -> None:
    ledger = ledger_with(both("5m", -5.0))
    close, opened = MORNING + 10 * 3600, MONDAY + int(3.5 * 3600)
    for minute in range(30, 0, -1):
        take(ledger, 100.0, close - 60 * minute, previous_close=130.0)
    take(ledger, 98.0, opened, previous_close=99.0)
    assert take(ledger, 94.0, opened + 1, previous_close=99.0) == [("5m", -2.0, -6.0)]


def test_a_minute_without_updates_has_the_close_before_it() -> None:
    ledger = ledger_with(both("5m", 1.0))
    take(ledger, 100.0, OPEN)
    take(ledger, 100.0, OPEN + 240)
    take(ledger, 100.5, OPEN + 420)
    assert take(ledger, 101.0, OPEN + 430) == [("5m", 0.5, 1.0)]


def test_without_a_price_as_old_as_the_window_nothing_crosses() -> None:
    ledger = ledger_with(both("5m", 1.0))
    take(ledger, 100.0, OPEN)
    assert take(ledger, 105.0, OPEN + 299) == []


def test_a_window_that_moves_on_crosses_with_the_next_update() -> None:
    """The price of five minutes ago has risen, the price of now has not."""
    ledger = ledger_with(both("5m", 1.0))
    take(ledger, 100.0, OPEN)
    take(ledger, 102.0, OPEN + 60)
    take(ledger, 102.0, OPEN + 360)
    assert take(ledger, 102.01, OPEN + 420) == [("5m", 2.0, 0.009803922)]


def test_late_and_future_quotes_count_in_the_minute_of_their_bar() -> None:
    """A quote that is too late for any bar counts in the newest one."""
    ledger = ledger_with(both("5m", 1.0))
    for minute in range(7):
        take(ledger, 100.0, OPEN + 60 * minute)
    now = OPEN + 365
    for number, lag in enumerate((-50.0, 70.0, 3000.0)):
        ledger.take(Update([aapl(100.5, now - lag)]), now + number, heard_at=now)
        ledger.take(Update([aapl(101.5, now - lag)]), now + number, heard_at=now)
        found = ledger.crossings.take_waiting()
        assert [(each.before, each.value) for each in found[-1:]] == [(0.5, 1.5)]


def test_a_correction_crosses_as_any_other_change() -> None:
    """The bars before it stay as they are."""
    ledger = ledger_with(both("price", 150.0), both("5m", 40.0))
    for minute in range(7):
        take(ledger, 100.0, OPEN + 60 * minute)
    assert len(take(ledger, 160.0, OPEN + 362)) == 2
    assert take(ledger, 100.0, OPEN + 363) == [("price", 160.0, 100.0), ("5m", 60.0, 0.0)]


def test_the_change_of_the_day_is_that_of_the_quote() -> None:
    ledger = ledger_with(both("day", 0.0, 1.5))
    take(ledger, 100.0, OPEN, percent=1.0)
    assert take(ledger, 100.0, OPEN + 1, percent=-0.5) == [("day", 1.0, -0.5)]
    assert take(ledger, 100.0, OPEN + 2, percent=None) == []
    assert take(ledger, 100.0, OPEN + 3, percent=2.0) == []


def test_ids_grow_though_the_clock_falls() -> None:
    ledger = ledger_with(both("price", 100.0))
    ledger.crossings.follow(CrossingId(int(OPEN * 1000) + 5000, 3))
    for number in range(4):
        ledger.take(
            Update([aapl(99.0 + number % 2 * 2, OPEN)]), OPEN + number, heard_at=OPEN + 10 - 3 * number
        )
    ids = [each.id for each in ledger.crossings.take_waiting()]
    assert ids == [(OPEN * 1000 + 7000, 0), (OPEN * 1000 + 7000, 1), (OPEN * 1000 + 7000, 2)]


def test_past_prices_are_those_of_the_newest_closings() -> None:
    past = PastPrices()
    bar = OwnBar(0, 1.0, 1.0, 1.0, 1.0, None, 1)
    past.add([Closing(60, {"1m": {"KO": bar}}, {})])
    past.add(Closing(60 * number, {}, {}) for number in range(2, PAST_CLOSINGS + 1))
    assert past.bar("KO", 10_000) == bar
    past.add([Closing(60 * PAST_CLOSINGS + 60, {}, {})])
    assert past.bar("KO", 10_000) is None
