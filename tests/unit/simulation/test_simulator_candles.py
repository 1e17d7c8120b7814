"""Subdivision of candles: for any random bytes, children merge into exactly their parent."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from quotecast.simulation.market.candles import (
    HOUR,
    MINUTE,
    SECOND,
    TENTH,
    Subdivision,
    TickCandle,
    merge,
    noise_length,
    subdivide,
)
from quotecast.simulation.market.trades import COUNT, NOISE_LENGTH, PAUSE, Trades, trades


@st.composite
def candles(draw: st.DrawFn, length: int) -> TickCandle:
    """Draws a candle of a length: any range, none included, and volumes from 0 to beyond 64 bits."""
    low = draw(st.integers(1, 10**7))
    high = low + draw(st.sampled_from([0, 1, 2, 5, 300, 10**6]))
    inside = st.integers(low, high)
    start = draw(st.integers(10_000, 500_000)) * HOUR
    volume = draw(st.sampled_from([0, 1, 7, 10**6, 10**20]))
    return TickCandle(start, start + length, draw(inside), high, low, draw(inside), volume)


@st.composite
def subdivisions(draw: st.DrawFn) -> Subdivision:
    length, step = draw(
        st.sampled_from(
            [(23 * HOUR, HOUR), (24 * HOUR, HOUR), (HOUR, MINUTE), (MINUTE, SECOND), (SECOND, TENTH)]
        )
    )
    parent = draw(candles(length))
    count = noise_length(parent, step)
    return subdivide(parent, step, draw(st.binary(min_size=count, max_size=count)))


@st.composite
def tenths(draw: st.DrawFn) -> Trades:
    data = draw(st.binary(min_size=NOISE_LENGTH, max_size=NOISE_LENGTH))
    return trades(draw(candles(TENTH)), data)


@given(subdivisions())
def test_children_add_up_to_their_parent(children: Subdivision) -> None:
    """Children's times, open, high, low, close and volume merge into the parent's."""
    assert merge(map(children.child, range(len(children)))) == children.parent
    assert children.part(0, len(children)) == children.parent


@given(subdivisions())
def test_each_child_begins_where_the_one_before_ended(children: Subdivision) -> None:
    parts = [children.child(number) for number in range(len(children))]
    for before, after in pairwise(parts):
        assert (before.end, before.close) == (after.start, after.open)


@given(subdivisions())
def test_each_child_is_a_candle(children: Subdivision) -> None:
    """A child's prices lie between its low and high, its duration is positive and its volume not negative."""
    for child in map(children.child, range(len(children))):
        assert child.low <= min(child.open, child.close)
        assert child.high >= max(child.open, child.close)
        assert child.end > child.start
        assert child.volume >= 0


@given(subdivisions(), st.data())
def test_a_moment_is_found_in_the_child_that_holds_it(children: Subdivision, data: st.DataObject) -> None:
    moment = data.draw(st.integers(children.parent.start, children.parent.end - 1))
    child = children.child(children.index(moment))
    assert child.start <= moment < child.end


def test_a_session_that_opens_at_half_past_has_a_short_first_hour() -> None:
    """Hours align to the clock, so a session from 09:30 has a short first hour."""
    opening = 480_000 * HOUR + HOUR // 2
    session = TickCandle(opening, opening + 13 * HOUR // 2, 100, 110, 95, 105, 1000)
    children = subdivide(session, HOUR, bytes(noise_length(session, HOUR)))
    lengths = [children.child(number).end - children.child(number).start for number in range(len(children))]
    assert lengths == [HOUR // 2] + [HOUR] * 6


@given(tenths())
def test_trades_add_up_to_their_tenth_of_a_second(traded: Trades) -> None:
    """Trades start at the open, touch high and low, and end at the close."""
    prices = [traded.tenth.open, *traded.prices()]
    assert (max(prices), min(prices), prices[-1]) == (
        traded.tenth.high,
        traded.tenth.low,
        traded.tenth.close,
    )
    assert traded.candle_until(traded.tenth.end - 1) == traded.tenth


@given(tenths(), st.integers(0, TENTH - 1))
def test_a_tenth_in_progress_ends_with_the_trade_of_the_moment(traded: Trades, offset: int) -> None:
    so_far = traded.candle_until(traded.tenth.start + offset)
    assert so_far.close == traded.price(offset // PAUSE)
    assert so_far.low <= so_far.close <= so_far.high
    assert 0 <= so_far.volume <= traded.tenth.volume


def test_a_volume_of_one_per_trade_grows_by_one() -> None:
    """Every trade has volume when there is enough for all."""
    tenth = TickCandle(0, TENTH, 100, 101, 99, 100, COUNT)
    traded = trades(tenth, bytes(NOISE_LENGTH))
    volumes = [traded.candle_until(number * PAUSE).volume for number in range(COUNT)]
    assert volumes == list(range(1, COUNT + 1))
