"""The simulated market under scenarios of prices, listings and trading days."""

from datetime import UTC, date, datetime
from itertools import pairwise

import pytest

from quotecast.market.bars import Interval
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.scenarios.planning import plan_of, planned_of
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.vendors.market import Candle, Market

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000


def new_york(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=NEW_YORK).timestamp() * 1000)


#: Symbol, interval, start and end of bars.
Span = tuple[str, Interval, int, int]
#: A Tuesday.
START = new_york("2026-03-03T10:00")
MIDNIGHT = new_york("2026-03-04T00:00")


def market(*texts: str, always_open: bool = True) -> Market:
    """Returns the market of seed 1 under scenarios that begin at 10:00 unless they say otherwise."""
    return Market(1, Schedule(plan_of(texts, START)), always_open=always_open)


def figures(candle: Candle) -> tuple[float, ...]:
    return candle.open, candle.high, candle.low, candle.close, candle.volume


PLAIN = market()


def test_a_flash_crash_concerns_every_vendor_of_a_pair() -> None:
    """Prices fall by the depth within a minute; pairs in dollars follow those in USDT."""
    crashed = market("flash-crash,symbols=AAPL+BTC/USDT")
    for symbol in ("AAPL", "BTC/USDT", "BTC/USD"):
        bottom = crashed.price(symbol, START + MINUTE).price / PLAIN.price(symbol, START + MINUTE).price
        assert bottom == pytest.approx(0.9, abs=0.001)
        assert crashed.price(symbol, START + 5 * MINUTE) != PLAIN.price(symbol, START + 5 * MINUTE)
        assert (
            crashed.price(symbol, START + 5 * MINUTE).price == PLAIN.price(symbol, START + 5 * MINUTE).price
        )
        assert crashed.price(symbol, START + HOUR).low < PLAIN.price(symbol, START + HOUR).low
    assert crashed.price("ETH/USD", START + MINUTE) == PLAIN.price("ETH/USD", START + MINUTE)


def test_a_scenario_of_a_pair_in_dollars_concerns_the_one_in_usdt() -> None:
    halted = market("halt,symbols=BTC/USD")
    assert halted.is_halted("BTC/USDT", START)
    assert halted.is_halted("BTC/USD", START)
    assert not halted.is_halted("BTC/EUR", START)
    assert halted.next_price("BTC/USDT", START + MINUTE)
    assert halted.next_price("BTC/USDT", START + 2 * MINUTE) is None


def test_a_halt_stops_an_instrument_which_resumes_with_a_gap() -> None:
    halted = market("halt,symbols=AAPL,seconds=90,gap=-0.2")
    last = PLAIN.price("AAPL", START - 1)
    assert [halted.is_halted("AAPL", START + each) for each in (-1, 0, 89_999, 90_000)] == [0, 1, 1, 0]
    assert halted.next_price("AAPL", START - 1) == last
    for moment in range(START, START + 90 * SECOND, 777):
        assert halted.next_price("AAPL", moment) is None
    resumed = halted.next_price("AAPL", START + 90 * SECOND)
    assert resumed
    assert resumed.price == pytest.approx(PLAIN.price("AAPL", START + 90 * SECOND).price * 0.8, abs=0.01)
    assert (resumed.open, resumed.previous) == (last.open, last.previous)
    assert resumed.volume - last.volume < last.volume / 10_000
    minutes = halted.bars("AAPL", "1m", START - MINUTE, START + 3 * MINUTE)
    assert [each.start - START for each in minutes] == [-MINUTE, MINUTE, 2 * MINUTE, 3 * MINUTE]


def test_the_next_trading_day_opens_with_a_gap() -> None:
    """The previous close stays; the first trade of the next day is off by the size, and so is all after."""
    for always_open, opening in ((True, MIDNIGHT), (False, new_york("2026-03-04T09:30"))):
        gapped, plain = market("gap-open", always_open=always_open), market(always_open=always_open)
        assert gapped.price("AAPL", opening - 1) == plain.price("AAPL", opening - 1)
        after, usual = gapped.price("AAPL", opening), plain.price("AAPL", opening)
        assert after.previous == usual.previous
        assert after.open == pytest.approx(usual.open * 1.05, abs=0.01)
        later = opening + 10 * DAY
        assert gapped.price("AAPL", later).price == pytest.approx(
            plain.price("AAPL", later).price * 1.05, abs=0.01
        )


@pytest.mark.parametrize("ratio", [2.0, 0.1, 1.5])
def test_a_split_overnight_leaves_no_jump(ratio: float) -> None:
    """After a split, previous close, history and volume are in new shares; raw bars keep the old ones."""
    split = market(f"split,ratio={ratio}")
    assert split.price("AAPL", MIDNIGHT - 1) == PLAIN.price("AAPL", MIDNIGHT - 1)
    after, usual = split.price("AAPL", MIDNIGHT), PLAIN.price("AAPL", MIDNIGHT)
    assert after.previous == pytest.approx(usual.previous / ratio, abs=0.01)
    assert after.price / after.previous == pytest.approx(usual.price / usual.previous, rel=0.001)
    later = MIDNIGHT + 5 * HOUR
    assert split.price("AAPL", later).volume == pytest.approx(
        PLAIN.price("AAPL", later).volume * ratio, rel=1e-5
    )
    span: Span = ("AAPL", "1h", MIDNIGHT - 3 * HOUR, MIDNIGHT + 3 * HOUR - 1)
    adjusted, raw, plain = split.bars(*span), split.bars(*span, adjusted=False), PLAIN.bars(*span)
    assert raw[:3] == plain[:3]
    assert raw[3:] == adjusted[3:]
    for bar, original in zip(adjusted, plain, strict=True):
        assert bar.close == pytest.approx(original.close / ratio, abs=0.01)
        assert bar.volume == pytest.approx(original.volume * ratio, rel=1e-3)
    assert all(abs(after.open / before.close - 1) < 0.02 for before, after in pairwise(adjusted)), (
        "a jump in the adjusted history"
    )


def test_history_is_in_the_shares_of_the_present() -> None:
    """Adjusted bars of the time before a split change when it takes effect, for any span that is asked."""
    split = market("split,overnight=false")
    span: Span = ("AAPL", "D", START - 5 * DAY, START - 2 * DAY)
    assert split.bars(*span) == PLAIN.bars(*span)
    split.present = START
    assert [each.close for each in split.bars(*span)] == pytest.approx(
        [each.close / 2 for each in PLAIN.bars(*span)], abs=0.01
    )
    assert split.bars(*span, adjusted=False) == PLAIN.bars(*span)


def test_a_split_within_a_day_keeps_the_days_figures_in_step() -> None:
    """Open, high, low and volume of the running day are in new shares from the split on."""
    split = market("split,overnight=false")
    before, after = split.price("AAPL", START - 1), split.price("AAPL", START)
    assert before == PLAIN.price("AAPL", START - 1)
    for name in ("open", "high", "low", "previous", "price"):
        assert getattr(after, name) == pytest.approx(getattr(PLAIN.price("AAPL", START), name) / 2, abs=0.01)
    assert after.volume == pytest.approx(2 * before.volume, rel=1e-4)


def test_pairs_do_not_split() -> None:
    split = market("split,symbols=BTC/USDT+AAPL,overnight=false")
    assert split.price("BTC/USDT", START + DAY) == PLAIN.price("BTC/USDT", START + DAY)


def test_a_new_listing_has_no_prices_and_bars_before_its_first_day() -> None:
    listed = market("new-listing,symbols=RDDT+BTC/USDT")
    for symbol in ("RDDT", "BTC/USDT", "BTC/USD"):
        assert [listed.is_listed(symbol, START + each) for each in (-1, 0)] == [False, True]
        assert listed.next_price(symbol, START - 1) is None
        assert not listed.bars(symbol, "D", START - 9 * DAY, START - 1)
        first = listed.next_price(symbol, START)
        assert first
        assert first.time == START
        assert first.volume < PLAIN.price(symbol, START).volume / 1000
        bars = listed.bars(symbol, "1h", START - 9 * DAY, START + 2 * HOUR - 1)
        assert [each.start for each in bars] == [START, START + HOUR]
        later = listed.price(symbol, START + 3 * HOUR)
        assert later.volume == pytest.approx(
            sum(each.volume for each in listed.bars(symbol, "1m", START, START + 3 * HOUR)), rel=1e-6
        )
    assert listed.is_listed("AAPL", START - 1)
    assert not listed.is_listed("NOPE", START)


def test_a_delisted_instrument_keeps_its_past() -> None:
    delisted = market("delisting,symbols=INTC")
    assert [delisted.is_listed("INTC", START + each) for each in (-1, 0)] == [True, False]
    assert delisted.next_price("INTC", START - 1) == PLAIN.price("INTC", START - 1)
    assert delisted.next_price("INTC", START) is None
    assert delisted.bars("INTC", "1h", START - 2 * HOUR, START + DAY) == PLAIN.bars(
        "INTC", "1h", START - 2 * HOUR, START - 1
    )


@pytest.mark.parametrize("always_open", [True, False])
def test_a_holiday_is_a_closed_day(*, always_open: bool) -> None:
    """No stock trades, calendar and clock show it, and the next day follows the one before; pairs trade."""
    closed, plain = market("holiday", always_open=always_open), market(always_open=always_open)
    assert plain.is_open(START)
    assert not closed.is_open(START)
    days = [closed.calendar.first_from(date(2026, 3, day)).date.day for day in (2, 3, 4)]
    assert days == [2, 4, 4]
    latest = next(closed.calendar.until(datetime.fromtimestamp(START / 1000, UTC)))
    assert latest.date == date(2026, 3, 2)
    last = plain.price("MSFT", new_york("2026-03-03T00:00") - 1)
    assert closed.price("MSFT", START) == last
    tomorrow = new_york("2026-03-04T12:00")
    assert closed.is_open(tomorrow)
    assert closed.price("MSFT", tomorrow).previous == last.price
    assert closed.price("MSFT", tomorrow).price == plain.price("MSFT", tomorrow).price
    bars = closed.bars("MSFT", "D", START - 2 * DAY, START + 2 * DAY)
    usual = plain.bars("MSFT", "D", START - 2 * DAY, START + 2 * DAY)
    assert bars == [each for each in usual if each.start != new_york("2026-03-03T00:00")]
    assert closed.price("BTC/USDT", START) == plain.price("BTC/USDT", START)


@pytest.mark.parametrize("always_open", [True, False])
def test_a_half_day_closes_early(*, always_open: bool) -> None:
    closed, plain = market("half-day", always_open=always_open), market(always_open=always_open)
    one = new_york("2026-03-03T13:00")
    assert [closed.is_open(one - 1), closed.is_open(one)] == [True, False]
    assert closed.calendar.first_from(date(2026, 3, 3)).close == datetime.fromtimestamp(one / 1000, UTC)
    last = plain.price("MSFT", one - 1)
    assert closed.price("MSFT", one + 5 * HOUR) == last
    day = closed.bars("MSFT", "D", START, one + HOUR)[0]
    assert (day.close, day.volume) == (last.price, last.volume)
    assert closed.price("MSFT", START + DAY).previous == last.price
    assert closed.is_open(one + DAY)


@pytest.mark.parametrize("interval", ["1m", "5m", "1h", "4h", "D", "W", "M"])
def test_a_scenario_that_begins_while_running_changes_only_its_time(interval: Interval) -> None:
    """Bars and prices follow the schedule at once; bars of earlier times stay the same."""
    running = market()
    span: Span = ("AAPL", interval, START - 3 * DAY, START - 1)
    earlier = running.bars(*span)
    running.price("AAPL", START)
    running.schedule.add(planned_of("halt,gap=0.5,symbols=AAPL", START))
    running.schedule.add(planned_of("holiday", START + DAY))
    assert running.bars(*span) == earlier
    assert running.price("AAPL", START + MINUTE).time < START
    assert not running.is_open(START + DAY)
    running.schedule.clear()
    assert running.is_open(START + DAY)
    assert running.price("AAPL", START + MINUTE) == PLAIN.price("AAPL", START + MINUTE)


def test_prices_never_go_back_when_a_scenario_undoes_trades() -> None:
    running = market()
    assert running.next_price("AAPL", START)
    running.schedule.add(planned_of("holiday", START))
    assert running.next_price("AAPL", START + SECOND) is None
    reopened = running.next_price("AAPL", START + DAY)
    assert reopened
    assert reopened.time >= MIDNIGHT


def test_all_scenarios_at_once_agree_at_every_interval() -> None:
    """Under many scenarios, bars of each interval are merged ones of a minute, and prices are those bars'."""
    crowded = market(
        "flash-crash",
        "halt@+120,seconds=200,symbols=AAPL",
        "gap-open",
        "split",
        "half-day",
        "holiday@2026-03-05T15:00:00Z",
        "delisting@2026-03-06T20:00:07Z,symbols=AAPL",
    )
    start, end = new_york("2026-03-03T00:00"), new_york("2026-03-07T00:00") - 1
    crowded.present = end
    minutes = crowded.bars("AAPL", "1m", start, end)
    intervals: list[Interval] = ["5m", "30m", "1h", "4h", "D"]
    for interval in intervals:
        for bar in crowded.bars("AAPL", interval, start, end):
            parts = [each for each in minutes if bar.start <= each.start < bar.end]
            assert figures(bar) == (
                parts[0].open,
                max(each.high for each in parts),
                min(each.low for each in parts),
                parts[-1].close,
                sum(each.volume for each in parts),
            )
    assert crowded.price("AAPL", end).price == minutes[-1].close
    assert crowded.price("AAPL", end).time == new_york("2026-03-06T15:00:06.998")


def test_scenarios_of_another_year_cost_nothing() -> None:
    """A day that no scenario touches is read from the original tape."""
    busy = market(*(f"flash-crash@2025-{month:02}-03T15:00:00Z" for month in range(4, 13)))
    tape = busy.tapes["AAPL"].at(START)
    day = tape.day(tape.hours.latest(START))
    assert type(day).__name__ == "TickCandle"
    assert busy.price("AAPL", START) == PLAIN.price("AAPL", START)
