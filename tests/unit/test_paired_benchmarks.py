"""The comparison of cases in one run: drift of the machine cancels, and each case has an equal part."""

import random

import pytest
from benchmarks import paced
from benchmarks.pairs import ratio_of


def noisy_pairs(ratio: float) -> list[tuple[float, float]]:
    """Returns twenty pairs with a noise of 5 %, while the machine becomes slower by half."""
    chance = random.Random(7)
    drift = [1 + number / 40 for number in range(20)]
    return [(each * chance.gauss(1, 0.05), each * ratio * chance.gauss(1, 0.05)) for each in drift]


@pytest.mark.parametrize("ratio", [1.0, 1.1])
def test_interval_holds_the_ratio(ratio: float) -> None:
    """The interval is as wide as the noise, and has nothing of the drift."""
    found = ratio_of(noisy_pairs(ratio))
    assert found.low < ratio < found.high
    assert found.low < found.median < found.high < found.low + 0.1


def test_ratio_is_written_as_a_difference() -> None:
    """A quarter more in each pair is 25 % with no doubt."""
    assert str(ratio_of([(2.0, 2.5), (4.0, 5.0), (1.0, 1.25)])) == "+25.0 % (95 %: +25.0 to +25.0 %)"


def test_stocks_have_equal_parts_of_a_cycle() -> None:
    """Each stock has as many turns, and as many of those in which the worker sweeps."""
    turns = range(1000, 1000 + paced.CYCLE)
    for chosen in (turns, [turn for turn in turns if turn % 5 == 0]):
        counts = [sum(paced.stock_of(turn) == stock for turn in chosen) for stock in range(paced.STOCKS)]
        assert len({*counts}) == 1


def test_a_move_lies_between_two_ticks() -> None:
    """It comes after the end of the turn before, so its CPU time belongs to its own turn."""
    for turn in range(100, 110):
        assert paced.end_of(turn - 1) < paced.move_of(turn) < turn * paced.TURN_SECONDS < paced.end_of(turn)


@pytest.mark.parametrize("offset", [0.0, 0.001, 0.05, 0.0999])
def test_the_next_turn_has_not_begun(offset: float) -> None:
    """A publisher that is a little late leaves out a turn, and never moves twice in one."""
    moment = paced.end_of(100) + offset
    turn = paced.turn_at(moment)
    assert moment < paced.move_of(turn)
    assert paced.turn_at(paced.move_of(turn)) == turn + 1
