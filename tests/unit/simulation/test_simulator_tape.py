"""The hierarchy of candles of an instrument, at any moment."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.feeds import Feed
from quotecast.market.reference import Pair, Stock
from quotecast.market.sessions import NEW_YORK, session_at
from quotecast.simulation.market.candles import HOUR, MINUTE, STEPS, TENTH, TickCandle, merge
from quotecast.simulation.market.cursor import Cursor, RestOfDayCursor
from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.market.tape import Tape
from quotecast.simulation.market.venues import hours_of, pair_tapes, stock_tapes

ACME = Stock("ACME", "Acme", "NYSE", "Energy", "Oil", 900_000_000, 84.2)
PENNY = Stock("PENY", "Penny", "NYSE", "Energy", "Oil", 20_000_000, 0.04)
COIN = Pair("SHIB", "USDT", "Shiba Inu", 8.5e-6, 589_000_000_000_000)

DAY = 24 * HOUR
moments = st.integers(
    milliseconds(datetime(2016, 1, 1, tzinfo=UTC)), milliseconds(datetime(2033, 1, 1, tzinfo=UTC))
)


def stock_tape(stock: Stock = ACME, *, seed: int = 1, always_open: bool = True) -> Tape:
    return stock_tapes([stock], seed, hours_of(Feed.STOCKS, always_open=always_open))[stock.ticker].at(0)


def coin_tape() -> Tape:
    return pair_tapes([COIN], 1, hours_of(Feed.CRYPTO, always_open=True))[COIN.ticker].at(0)


tapes = st.sampled_from([stock_tape(), stock_tape(PENNY), stock_tape(always_open=False), coin_tape()])


def new_york(text: str) -> int:
    return milliseconds(datetime.fromisoformat(text).replace(tzinfo=NEW_YORK))


def state(cursor: Cursor) -> tuple[int, int, int, int]:
    return cursor.price, cursor.high, cursor.low, cursor.volume


def figures(candle: TickCandle) -> tuple[int, int, int, int]:
    return candle.close, candle.high, candle.low, candle.volume


@given(tapes, moments)
def test_every_level_adds_up_to_the_day(tape: Tape, moment: int) -> None:
    """Children merge into their parent at each level, from the day to a tenth of a second."""
    candle = tape.day(tape.hours.latest(moment))
    moment = min(moment, candle.end - 1)
    for step in STEPS:
        children = tape.subdivide(candle, step)
        assert merge(map(children.child, range(len(children)))) == candle
        candle = children.child(children.index(moment))
    assert candle.end - candle.start == TENTH
    assert tape.trades(candle).candle_until(candle.end - 1) == candle


@given(tapes, moments)
def test_a_day_ends_with_the_price_that_the_next_starts_from(tape: Tape, moment: int) -> None:
    today = tape.hours.latest(moment)
    yesterday = tape.day(tape.hours.before(today))
    assert yesterday.close == tape.closing_price(tape.hours.before(today))
    if tape.hours.continuous:
        assert yesterday.close == tape.day(today).open


@given(moments)
def test_the_same_seed_gives_the_same_market(moment: int) -> None:
    assert stock_tape().day_until(moment) == stock_tape().day_until(moment)


def test_another_seed_gives_another_market() -> None:
    moment = new_york("2026-02-13T12:00")
    assert stock_tape(seed=2).day_until(moment) != stock_tape(seed=1).day_until(moment)


@given(tapes, moments, st.lists(st.integers(-2 * DAY, 2 * DAY) | st.integers(0, 500), max_size=8))
def test_a_cursor_sees_the_day_so_far_wherever_it_goes(tape: Tape, moment: int, steps: list[int]) -> None:
    """A cursor agrees with the tape after moves of any distance and direction."""
    cursor = Cursor(tape)
    for step in [0, *steps]:
        moment += step
        cursor.seek(moment)
        assert state(cursor) == figures(tape.day_until(moment))
        assert cursor.time <= moment


@given(tapes, moments, st.lists(st.integers(-DAY, DAY) | st.integers(0, 500), max_size=8))
def test_what_was_and_what_is_to_come_make_the_day(tape: Tape, moment: int, steps: list[int]) -> None:
    before, after = Cursor(tape), RestOfDayCursor(tape)
    for step in [0, *steps]:
        moment += step
        before.seek(moment)
        after.seek(moment)
        day = tape.day(before.window)
        assert max(before.high, after.high) == day.high
        assert min(before.low, after.low) == day.low
        assert before.volume + after.volume == day.volume


@given(tapes, moments, st.sampled_from([MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR, 4 * HOUR]))
def test_candles_of_any_size_add_up_to_the_days(tape: Tape, moment: int, size: int) -> None:
    """Candles of any size merge into the daily candles, the one in progress included."""
    start = tape.hours.before(tape.hours.latest(moment)).start
    candles = list(tape.candles(size, start, moment))
    days = [day for _, day in tape.days(start, moment)]
    assert merge(candles) == merge(days)
    assert all(candle.end - candle.start <= size for candle in candles)


@given(moments, st.integers(0, 6 * HOUR))
def test_prices_do_not_change_while_the_exchange_is_closed(moment: int, later: int) -> None:
    """The price does not change at night, on weekends and holidays, and after an early close."""
    tape = stock_tape(always_open=False)
    closed = session_at(datetime.fromtimestamp(moment / 1000, UTC)) != "regular"
    same_session = tape.hours.latest(moment) == tape.hours.latest(moment + later)
    if closed and same_session:
        assert tape.day_until(moment) == tape.day_until(moment + later)


@pytest.mark.parametrize(
    ("closed_at", "until"),
    [
        ("2025-11-28T13:00", "2025-12-01T09:29:59.999"),  # half day, then a weekend
        ("2025-07-03T13:00", "2025-07-07T09:29:59.999"),  # half day, holiday, weekend
        ("2025-03-07T16:00", "2025-03-10T09:29:59.999"),  # the clock springs forward
        ("2025-10-31T16:00", "2025-11-03T09:29:59.999"),  # the clock falls back
        ("2025-12-31T16:00", "2026-01-02T09:29:59.999"),  # the turn of the year
    ],
)
def test_from_close_to_open_the_last_price_stands(closed_at: str, until: str) -> None:
    tape = stock_tape(always_open=False)
    close = tape.day_until(new_york(closed_at))
    assert tape.day_until(new_york(until)) == close
    assert close.end == new_york(closed_at)
    assert tape.day_until(new_york(until) + 1).start == new_york(until) + 1


@pytest.mark.parametrize(("day", "hours"), [("2025-03-09", 23), ("2025-11-02", 25), ("2025-06-02", 24)])
def test_a_day_that_never_closes_is_as_long_as_the_calendar_says(day: str, hours: int) -> None:
    """A day with a clock change has 23 or 25 hours."""
    candle = stock_tape().day_until(new_york(f"{day}T12:00"))
    whole = stock_tape().day(stock_tape().hours.latest(candle.start))
    assert whole.end - whole.start == hours * HOUR


@pytest.mark.parametrize("stock", [ACME, PENNY])
def test_prices_stay_near_the_reference_and_above_zero(stock: Stock) -> None:
    """Over ten years, prices stay positive and near the reference price."""
    tape = stock_tape(stock)
    days = [day for _, day in tape.days(new_york("2016-01-01"), new_york("2026-01-01"))]
    reference = stock.price * tape.listing.scale
    assert len(days) == (date(2026, 1, 1) - date(2016, 1, 1)).days + 1
    assert min(day.low for day in days) >= 1
    assert max(day.high for day in days) < 4 * reference
    assert sum(day.close for day in days) / len(days) == pytest.approx(reference, rel=0.5)


def test_istanbul_and_coordinated_time_bound_the_days_of_the_other_feeds() -> None:
    assert hours_of(Feed.DOVIZ, always_open=False).zone == ZoneInfo("Europe/Istanbul")
    assert hours_of(Feed.CRYPTO, always_open=False).zone == ZoneInfo("UTC")
