"""Times of ticks, by a clock that only the test moves."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from functools import partial
from typing import cast

import pytest

from quotecast.feed.commands import INTERVALS
from quotecast.feed.hub import Hub
from quotecast.stream import ticker

UNIT = 1 / 128


class Clock:
    """A fake of the loop's clock and of sleeping; only steps that say so take time."""

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
        coroutine = ticker._every(16 * UNIT, steps, partial(clock.sleep, 0.0))
        while True:
            coroutine.send(None)
    return [round((at - begun[0]) / UNIT) for at in begun]


def test_ticks_keep_to_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks start at multiples of the interval, if each is shorter than that."""
    assert ticks([1, 15, 0, 8], monkeypatch) == [0, 16, 32, 48, 64, 80]


def test_a_tick_longer_than_its_interval_is_followed_soon_but_not_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once ticks are short again, they return to the grid."""
    assert ticks([17, 22, 3], monkeypatch) == [0, 20, 44, 48, 64]


class Counted:
    """A fake hub with one connection, or none, that notes which intervals tick; a sweep is 0."""

    def __init__(self) -> None:
        self.interval: int | None = None
        self.ticks: set[int] = set()
        self.on_enter: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return int(self.interval is not None)

    def serves(self, interval: int) -> bool:
        return self.interval == interval

    def tick(self, interval: int) -> None:
        self.ticks.add(interval)

    def sweep(self) -> None:
        self.ticks.add(0)


async def test_an_interval_rests_while_no_connection_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first connection of an interval starts its ticks, and the end of the last one stops them."""
    turn = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda _seconds: turn(0))
    hub = Counted()
    running = asyncio.create_task(ticker.run(cast("list[Hub]", [hub])))
    seen = []
    for interval in (None, 250, 1000, None):
        hub.interval = interval
        hub.on_enter()
        # What was on its way ends; only then is it counted.
        for _ in range(5):
            await turn(0)
        hub.ticks.clear()
        for _ in range(20):
            await turn(0)
        seen.append(set(hub.ticks))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert seen == [set(), {0, 250}, {0, 1000}, set()]


def test_every_interval_is_a_multiple_of_a_quarter_of_a_tenth() -> None:
    """So the grids of all intervals coincide."""
    assert all(interval % 25 == 0 for interval in INTERVALS)
