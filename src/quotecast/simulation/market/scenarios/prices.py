"""Scenarios of prices and trading: crashes, gaps, splits, halts, bursts and impossible ticks."""

from collections.abc import Sequence
from typing import Annotated, Final, get_args

from msgspec import Meta

from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.hours import local_ordinal, midnight_of
from quotecast.simulation.market.noise import key_of
from quotecast.simulation.market.scenarios.base import (
    Alteration,
    OneOf,
    Pause,
    Ramp,
    Scenario,
    Seconds,
    Spoil,
    draw,
    jump,
)
from quotecast.simulation.market.scenarios.base import Split as Shares


class FlashCrash(Scenario, frozen=True, kw_only=True, tag="flash-crash"):
    """Prices fall by a tenth (`depth`) within a minute and recover within four."""

    depth: Annotated[float, Meta(ge=0.001, le=0.99)] = 0.1
    fall_seconds: Seconds = 60.0
    recovery_seconds: Seconds = 240.0

    @property
    def milliseconds(self) -> int | None:
        """See Scenario."""
        return round((self.fall_seconds + self.recovery_seconds) * 1000)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        bottom = start + round(self.fall_seconds * 1000)
        end = bottom + round(self.recovery_seconds * 1000)
        return [Ramp(((start, 1.0), (bottom, 1 - self.depth), (end, 1.0)))]


class GapOpen(Scenario, frozen=True, kw_only=True, tag="gap-open"):
    """Instruments open 5 % higher (`size`) on the next trading day.

    Prices jump at the next midnight in New York.
    """

    symbols: tuple[str, ...] = ("AAPL",)
    size: Annotated[float, Meta(ge=-0.9, le=10)] = 0.05

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [jump(_next_midnight(start), 1 + self.size)]


class Split(Scenario, frozen=True, kw_only=True, tag="split"):
    """Stocks split 2:1 (`ratio`) at the next midnight in New York, or at once without `overnight`.

    Adjusted history, previous closes and changes are in the new shares. Pairs do not split.
    """

    symbols: tuple[str, ...] = ("AAPL",)
    ratio: Annotated[float, Meta(ge=0.05, le=20)] = 2.0
    overnight: bool = True

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [Shares(_next_midnight(start) if self.overnight else start, self.ratio)]


class Halt(Scenario, frozen=True, kw_only=True, tag="halt"):
    """Instruments stop trading for five minutes and resume 3 % higher (`gap`)."""

    symbols: tuple[str, ...] = ("AAPL", "BTC/USDT")
    gap: Annotated[float, Meta(ge=-0.9, le=10)] = 0.03
    seconds: Seconds = 300.0

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        end = start + round(self.seconds * 1000)
        return [Pause(start, end), jump(end, 1 + self.gap)]


class OpenBurst(Scenario, frozen=True, kw_only=True, tag="open-burst"):
    """Many times the usual rate of messages: twenty times, for two minutes."""

    factor: Annotated[float, Meta(ge=0.01, le=1000)] = 20.0
    seconds: Seconds = 120.0

    @property
    def rate(self) -> float:
        """See Scenario."""
        return self.factor


_BAD_TICK_KEY: Final = key_of(0, "bad-tick")
_BAD_TICK_KINDS: Final[tuple[Spoil, ...]] = get_args(Spoil)


class BadTick(Scenario, frozen=True, kw_only=True, tag="bad-tick"):
    """One of `every` messages has a wrong price (zero, NaN, times 100), crossed quotes or a future time.

    `kind` chooses one of these.
    """

    every: OneOf = 100
    kind: Spoil | None = None
    seconds: Seconds | None = None

    def spoil(self, number: int) -> Spoil | None:
        """See Scenario."""
        turn, rest = divmod(draw(_BAD_TICK_KEY, number), self.every)
        if rest:
            return None
        return self.kind or _BAD_TICK_KINDS[turn % len(_BAD_TICK_KINDS)]


def _next_midnight(moment: int) -> int:
    """Returns the first midnight in New York after a moment, both in Unix milliseconds."""
    return midnight_of(local_ordinal(moment, NEW_YORK) + 1, NEW_YORK)
