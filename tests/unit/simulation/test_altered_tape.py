"""Prices, candles and volumes that scenarios change."""

from datetime import UTC, datetime
from functools import partial
from itertools import groupby, pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from quotecast.market.feeds import Feed
from quotecast.market.reference import Pair, Stock
from quotecast.simulation.market.altered import ScheduledTape
from quotecast.simulation.market.candles import HOUR, MINUTE, SECOND, STEPS, TENTH, TickCandle, merge
from quotecast.simulation.market.cursor import Cursor, RestOfDayCursor, extent_between
from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.market.scenarios.base import Alteration, Listed, Pause, Ramp, Split, jump
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.market.scenarios.trading import Halt
from quotecast.simulation.market.tape import Tape
from quotecast.simulation.market.venues import hours_of, pair_tapes, stock_tapes

pytestmark = pytest.mark.slow

ACME = Stock("ACME", "Acme", "NYSE", "Energy", "Oil", 900_000_000, 84.2)
COIN = Pair("SHIB", "USDT", "Shiba Inu", 8.5e-6, 589_000_000_000_000)
COIN_HOURS = hours_of(Feed.CRYPTO, always_open=True)
DAY = 24 * HOUR
#: Tuesday, 10:00:00.250 in New York.
START = milliseconds(datetime(2026, 3, 3, 15, 0, 0, 250_000, tzinfo=UTC))
NOON = START - START % HOUR

CRASH = Ramp(((START, 1.0), (START + MINUTE, 0.9), (START + 5 * MINUTE, 1.0)))
JUMP = jump(NOON + 7 * MINUTE, 1.05)
HALT = Pause(START, START + 5 * MINUTE)
NIGHT = Pause(NOON + 3 * HOUR, NOON + 20 * HOUR)
SPLIT = Split(NOON + 40_500, 2.0)
ODD_SPLIT = Split(NOON + 2 * HOUR, 1.5)
LISTED = Listed(NOON + 90 * SECOND, NOON + 2 * DAY + 7 * SECOND)
ALTERED: dict[str, list[Alteration]] = {
    "crash": [CRASH],
    "jump": [JUMP],
    "halt": [HALT],
    "night": [NIGHT],
    "split": [SPLIT],
    "odd split": [ODD_SPLIT],
    "listed": [LISTED],
    "all": [CRASH, JUMP, HALT, NIGHT, SPLIT, ODD_SPLIT, LISTED],
}


class Altering(Schedule):
    """A schedule with given alterations of every instrument."""

    def __init__(self, alterations: list[Alteration]) -> None:
        super().__init__()
        self._given = alterations

    def alterations(self, symbol: str) -> list[Alteration]:
        """See Schedule."""
        del symbol
        return self._given


def source_of(kind: str, alterations: list[Alteration]) -> ScheduledTape:
    """Returns the tape of a stock of an exchange that never closes (`stock`), that closes, or of a coin."""
    schedule = Altering(alterations)
    if kind == "coin":
        source = pair_tapes([COIN], 1, COIN_HOURS, schedule)[COIN.ticker]
    else:
        hours = hours_of(Feed.STOCKS, always_open=kind == "stock")
        source = stock_tapes([ACME], 1, hours, schedule)["ACME"]
    assert isinstance(source, ScheduledTape)
    return source


SOURCES = {
    f"{name} of {kind}": source_of(kind, alterations)
    for name, alterations in ALTERED.items()
    for kind in ("stock", "exchange", "coin")
}
sources = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
#: Moments around the changes, and days before and after them.
moments = st.one_of(
    st.integers(START - 10 * SECOND, START + 10 * MINUTE), st.integers(NOON - 3 * DAY, NOON + 4 * DAY)
)


def figures(candle: TickCandle) -> tuple[int, ...]:
    return candle.open, candle.high, candle.low, candle.close, candle.volume


@sources
@pytest.mark.parametrize("view", ["before", "after", "raw"])
@settings(max_examples=6)
@given(moment=moments)
def test_every_level_of_altered_candles_adds_up(source: ScheduledTape, view: str, moment: int) -> None:
    """Children merge into their parent at each level, from the day to a tenth of a second."""
    tape = source.raw() if view == "raw" else source.at(NOON - DAY if view == "before" else NOON + 4 * DAY)
    moment = tape.last_traded(moment)
    window = tape.hours.latest(moment)
    candle, moment = tape.day(window), min(moment, window.end - 1)
    for step in STEPS:
        children = tape.subdivide(candle, step)
        parts = [children.child(index) for index in range(len(children))]
        assert figures(merge(parts)) == figures(candle)
        assert (children.parent.start, children.parent.end) == (candle.start, candle.end)
        candle = children.child(children.index(moment))
        assert candle.high
    assert candle.end - candle.start == TENTH
    prices = tape.trades(candle).prices()
    assert (max(prices), min(prices), prices[-1]) == (candle.high, candle.low, candle.close)


@sources
def test_bars_agree_with_the_bars_of_a_finer_interval(source: ScheduledTape) -> None:
    """Bars of each length are merged ones of a shorter length; none lies in a time without trades."""
    tape = source.at(NOON + 4 * DAY)
    start, end = NOON - 2 * HOUR, NOON + 3 * HOUR + 123_456
    for finer, coarser in pairwise((SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR, 4 * HOUR)):
        parts = list(tape.candles(finer, start, end))
        assert all(part.volume for part in parts)
        merged = {number: merge(group) for number, group in groupby(parts, partial(number_of, tape, coarser))}
        for bar in tape.candles(coarser, start, end):
            if bar.start >= start:
                assert figures(bar) == figures(merged[number_of(tape, coarser, bar)])


def number_of(tape: Tape, size: int, candle: TickCandle) -> int:
    """Returns which multiple of a length since midnight a candle begins in."""
    return (candle.start - tape.hours.latest(NOON).midnight) // size


def state(cursor: Cursor) -> tuple[int, ...]:
    return (
        cursor.time,
        cursor.price,
        cursor.open,
        cursor.high,
        cursor.low,
        cursor.volume,
        cursor.previous_close,
    )


@sources
@settings(max_examples=6)
@given(moment=moments)
def test_a_jump_to_a_moment_equals_the_way_there(source: ScheduledTape, moment: int) -> None:
    """A cursor that moves there in small steps has the state of a new one; so has one that jumps around."""
    walker, jumper = Cursor(source), Cursor(source)
    for each in range(moment - 20 * SECOND, moment, 700):
        walker.seek(each)
    for each in (moment + DAY, NOON - 3 * DAY, START + MINUTE, moment):
        jumper.seek(each)
    walker.seek(moment)
    direct = Cursor(source)
    direct.seek(moment)
    assert state(walker) == state(jumper) == state(direct)


@sources
@settings(max_examples=6)
@given(moment=moments)
def test_quote_and_bars_agree(source: ScheduledTape, moment: int) -> None:
    """The day's figures of a cursor are those of the day's candle up to then, and of its minutes."""
    cursor = Cursor(source)
    cursor.seek(moment)
    tape = source.at(moment)
    if cursor.time > moment:
        assert not list(tape.candles(MINUTE, moment - DAY, moment))
        return
    day = tape.day_until(moment)
    assert figures(day) == (cursor.open, cursor.high, cursor.low, cursor.price, cursor.volume)
    minutes = merge(tape.candles(MINUTE, cursor.window.start, moment))
    assert figures(minutes) == figures(day)


@pytest.mark.parametrize("name", ALTERED)
@settings(max_examples=6)
@given(moment=moments)
@example(moment=NOON + 2 * DAY - 15 * HOUR)
def test_the_last_24_hours_agree_with_their_minutes(name: str, moment: int) -> None:
    """High, low and volume of the last 24 hours are those of their minutes, but for the first and last."""
    source = SOURCES[f"{name} of coin"]
    now, ago = Cursor(source), RestOfDayCursor(source)
    now.seek(moment)
    ago.seek(moment - DAY)
    if now.time > moment:
        return
    high, low, volume = extent_between(ago, now, moment)
    minutes = list(source.at(moment).candles(MINUTE, moment - DAY, moment))
    if not minutes:
        assert (high, low, volume) == (now.price, now.price, 0)
        return
    total = sum(each.volume for each in minutes)
    assert total - minutes[0].volume <= volume <= total
    assert max((each.high for each in minutes[1:]), default=0) <= high
    assert high <= max(ago.price, *(each.high for each in minutes), now.price)
    assert min((each.low for each in minutes[1:]), default=low) >= low
    assert low >= min(ago.price, *(each.low for each in minutes), now.price)


def test_a_halt_has_no_trades_and_ends_with_a_gap() -> None:
    """In a halt the cursor stays at the last trade; the first trade after it is off by the gap."""
    gap = jump(HALT.end, 1.05)
    source, plain = source_of("stock", [HALT, gap]), source_of("stock", [])
    halted, free = Cursor(source), Cursor(plain)
    free.seek(NOON + SECOND - 1)
    for moment in (NOON + SECOND, START + MINUTE, HALT.end):
        halted.seek(moment)
        assert (halted.time, halted.price, halted.volume) == (NOON + 998, free.price, free.volume)
    resumed = HALT.end - 250 + SECOND
    halted.seek(resumed)
    free.seek(resumed)
    assert halted.time == resumed
    assert halted.price == pytest.approx(free.price * 1.05, abs=1)
    bars = list(source.at(DAY).candles(MINUTE, NOON, NOON + 10 * MINUTE))
    assert [(bar.start - NOON) // MINUTE for bar in bars] == [0, 5, 6, 7, 8, 9, 10]
    day, whole = source.at(0).day(halted.window), plain.at(0).day(halted.window)
    pause = sum(bar.volume for bar in plain.at(0).candles(SECOND, NOON + SECOND, HALT.end + 749))
    assert day.volume == whole.volume - pause


def test_a_split_changes_the_past_into_new_shares() -> None:
    """Adjusted candles before a split have half the price and twice the volume, raw ones their own."""
    midnight = NOON + 14 * HOUR
    source, plain = source_of("stock", [Split(midnight, 2.0)]), source_of("stock", []).at(0)
    window = source.hours.latest(NOON)
    before, after, raw = source.at(midnight - 1), source.at(midnight), source.raw()
    assert before.day(window) == plain.day(window) == raw.day(window)
    assert figures(after.day(window)) == halved(plain.day(window))
    window = source.hours.latest(midnight + HOUR)
    assert figures(raw.day(window)) == figures(after.day(window)) == halved(plain.day(window))
    cursor = Cursor(source)
    cursor.seek(midnight - 1)
    last = cursor.price
    cursor.seek(midnight)
    assert cursor.previous_close == halved(plain.day(source.hours.latest(NOON)))[3]
    assert cursor.price == pytest.approx(last / 2, rel=0.05)
    assert cursor.open == pytest.approx(cursor.previous_close, rel=0.02)


def halved(candle: TickCandle) -> tuple[int, ...]:
    return (*(int(price / 2 + 0.5) for price in figures(candle)[:4]), candle.volume * 2)


def test_an_instrument_has_candles_only_while_it_is_listed() -> None:
    """The first and the last candle contain the bounds; the opening of the first day is its first trade."""
    tape = source_of("stock", [LISTED]).at(0)
    bars = list(tape.candles(SECOND, NOON - 7 * DAY, NOON + 7 * DAY))
    assert (bars[0].start, bars[-1].end) == (LISTED.start, LISTED.end)
    days = [window.start for window, _ in tape.days(NOON - 7 * DAY, NOON + 7 * DAY)]
    assert [tape.hours.latest(NOON + number * DAY).start for number in range(3)] == days
    first = tape.day(tape.hours.latest(NOON))
    assert first.open == bars[0].open
    assert tape.closing_price(tape.hours.before(tape.hours.latest(NOON))) == pytest.approx(
        first.open, rel=0.01
    )


def test_what_nothing_changes_stays_the_same_object() -> None:
    """Days before and after a crash are the original candles; without scenarios the tape is the original."""
    tape = source_of("stock", [CRASH]).at(0)
    plain = source_of("stock", []).at(0)
    assert type(plain) is Tape
    for days in (-2, -1, 1, 2):
        day = tape.day(tape.hours.latest(NOON + days * DAY))
        assert type(day) is TickCandle
        assert day == plain.day(plain.hours.latest(NOON + days * DAY))


def test_a_crash_falls_and_recovers() -> None:
    """At its lowest the price has lost the depth; after the crash it is that of the original."""
    crashed, free = Cursor(source_of("coin", [CRASH])), Cursor(source_of("coin", []))
    ratios = []
    for moment in (START - 1, START + 30 * SECOND, START + MINUTE, START + 3 * MINUTE, START + 6 * MINUTE):
        crashed.seek(moment)
        free.seek(moment)
        ratios.append(crashed.price / free.price)
    assert ratios == pytest.approx([1, 0.95, 0.9, 0.95, 1], abs=0.002)


def test_a_scenario_that_begins_while_a_cursor_moves_takes_effect() -> None:
    """A cursor follows a schedule that changes; earlier days stay as they were."""
    schedule = Schedule()
    source = stock_tapes([ACME], 1, hours_of(Feed.STOCKS, always_open=True), schedule)["ACME"]
    cursor = Cursor(source)
    cursor.seek(START)
    yesterday = source.at(START).day(source.hours.latest(START - DAY))
    schedule.add(Planned(Halt(symbols=("ACME",)), START))
    cursor.seek(START + MINUTE)
    assert cursor.time == NOON + 998
    assert source.at(START).day(source.hours.latest(START - DAY)) == yesterday
    schedule.clear()
    cursor.seek(START + MINUTE)
    assert cursor.time == START + MINUTE
