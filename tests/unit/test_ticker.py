"""When ticks happen, by a clock that moves only as the test says."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable

import pytest

from quotecast.api import ticker
from quotecast.feed.commands import INTERVALS

UNIT = 1 / 128


class Clock:
    """Stands for a loop's clock and for sleeping: nothing takes time but what says so."""

    def __init__(self) -> None:
        self.now = 1024.0

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def ticks(took: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """When ticks of every 16 units begin, counted from the first, if each takes so many units.

    A unit is a 128th of a second, of which floating-point numbers are exact.
    """
    clock, begun = Clock(), []
    durations = itertools.chain(took, [0])

    def step() -> None:
        begun.append(clock.now)
        if (duration := next(durations, None)) is None:
            raise asyncio.CancelledError
        clock.now += duration * UNIT

    monkeypatch.setattr(asyncio, "get_running_loop", lambda: clock)
    monkeypatch.setattr(asyncio, "sleep", clock.sleep)
    steps: list[Callable[[], None]] = [step]
    with contextlib.suppress(asyncio.CancelledError):
        coroutine = ticker._every(16 * UNIT, steps)
        while True:
            coroutine.send(None)
    return [round((at - begun[0]) / UNIT) for at in begun]


def test_ticks_keep_to_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long each takes, short of its interval."""
    assert ticks([1, 15, 0, 8], monkeypatch) == [0, 16, 32, 48, 64, 80]


def test_a_tick_longer_than_its_interval_is_followed_soon_but_not_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And once they are short again they are back on the grid."""
    assert ticks([17, 22, 3], monkeypatch) == [0, 20, 44, 48, 64]


def test_every_interval_is_a_multiple_of_a_quarter_of_a_tenth() -> None:
    """So that grids meet."""
    assert all(interval % 25 == 0 for interval in INTERVALS)
