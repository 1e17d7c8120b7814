"""Scenarios that change how messages arrive: their hooks are functions of time and number."""

from collections import Counter
from itertools import pairwise

import pytest

from quotecast.simulation.market.scenarios.base import Scenario
from quotecast.simulation.market.scenarios.connections import (
    Drop,
    Duplicate,
    Frozen,
    Maintenance,
    OutOfOrder,
    RateLimited,
    Slow,
)
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.market.scenarios.trading import BadTick, OpenBurst

START = 1_795_000_000_000


def _schedule(*scenarios: Scenario) -> Schedule:
    return Schedule(Planned(each, START) for each in scenarios)


def test_a_burst_multiplies_the_rate_for_two_minutes() -> None:
    schedule = _schedule(OpenBurst())
    assert [schedule.rate(START + each) for each in (-1, 0, 119_999, 120_000)] == [1, 20, 20, 1]


def test_two_bursts_multiply() -> None:
    assert _schedule(OpenBurst(), OpenBurst(factor=2)).rate(START) == 40


def test_bad_ticks_are_one_of_so_many_and_of_every_kind() -> None:
    schedule = _schedule(BadTick(every=10))
    found = Counter(schedule.spoil(START, "AAPL", number) for number in range(0, 200_000, 10))
    assert found.keys() == {None, "zero", "hundredfold", "nan", "crossed", "future"}
    assert found[None] / found.total() == pytest.approx(0.9, abs=0.01)


def test_bad_ticks_of_one_kind() -> None:
    schedule = _schedule(BadTick(every=1, kind="crossed"))
    assert {schedule.spoil(START, "AAPL", number) for number in range(100)} == {"crossed"}


def test_instruments_have_bad_ticks_at_different_moments() -> None:
    schedule = _schedule(BadTick(every=2))
    both = [
        tuple(schedule.spoil(START, symbol, number) is None for symbol in ("AAPL", "BTC/USDT"))
        for number in range(100)
    ]
    assert len(set(both)) == 4


def test_a_scenario_concerns_its_symbols_only() -> None:
    schedule = _schedule(BadTick(every=1, symbols=("AAPL",)))
    assert schedule.spoil(START, "AAPL", 1)
    assert not schedule.spoil(START, "MSFT", 1)


def test_a_frozen_stream_is_silent_for_a_minute() -> None:
    schedule = _schedule(Frozen())
    assert [schedule.is_silent(START + each) for each in (-1, 0, 59_999, 60_000)] == [
        False,
        True,
        True,
        False,
    ]


def test_frozen_symbols_alone_lose_their_messages() -> None:
    schedule = _schedule(Frozen(symbols=("AAPL",)))
    assert not schedule.is_silent(START)
    assert schedule.delays(START, "AAPL", 1) == ()
    assert schedule.delays(START, "MSFT", 1) == (0,)


def test_connections_drop_at_every_multiple_and_not_at_the_start() -> None:
    schedule = _schedule(Drop(every=10))
    ticks = pairwise(range(START - 20, START + 35_000, 20))
    assert [after - START for before, after in ticks if schedule.drops(before, after)] == [
        10_000,
        20_000,
        30_000,
    ]


def test_slow_messages_keep_their_order_until_the_end() -> None:
    schedule = _schedule(Slow(by=100, jitter=3000, seconds=30))
    delays = {
        moment: schedule.delays(moment, "AAPL", moment // 2)[0] for moment in range(START, START + 31_000)
    }
    arrivals = [moment + delay for moment, delay in delays.items()]
    assert arrivals == sorted(arrivals)
    assert max(delays.values()) > 1500
    assert delays[START + 30_000] == 0


def test_a_duplicate_follows_one_of_so_many() -> None:
    schedule = _schedule(Duplicate(every=4, by=50))
    found = Counter(schedule.delays(START, "AAPL", number) for number in range(0, 40_000, 10))
    assert found.keys() == {(0,), (0, 50)}
    assert found[0, 50] / found.total() == pytest.approx(0.25, abs=0.03)


def test_newer_messages_overtake_one_of_so_many() -> None:
    schedule = _schedule(OutOfOrder(every=4, by=70))
    found = Counter(schedule.delays(START, "AAPL", number) for number in range(0, 40_000, 10))
    assert found.keys() == {(0,), (70,)}
    assert found[70,] / found.total() == pytest.approx(0.25, abs=0.03)


def test_delays_of_two_scenarios_add_up() -> None:
    schedule = _schedule(Duplicate(every=1, by=50), OutOfOrder(every=1, by=70))
    assert schedule.delays(START, "AAPL", 1) == (70, 120)


def test_refusals_end_with_their_scenario() -> None:
    assert [_schedule(Maintenance()).refusal(START + each) for each in (0, 120_000)] == ["maintenance", None]
    assert [_schedule(RateLimited()).refusal(START + each) for each in (0, 60_000)] == ["rate-limited", None]


def test_nothing_remains_of_a_cleared_schedule() -> None:
    schedule = _schedule(Maintenance(), Frozen())
    schedule.clear()
    assert not schedule.refusal(START)
    assert not schedule.is_silent(START)
