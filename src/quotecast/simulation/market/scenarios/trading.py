"""Scenarios of trading: crashes, gaps, splits, halts, bursts, impossible ticks, listings and special days."""

from collections.abc import Sequence
from typing import Annotated, Final, get_args

from msgspec import Meta

from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.hours import local_ordinal, midnight_of, new_york_date
from quotecast.simulation.market.noise import key_of
from quotecast.simulation.market.scenarios.base import (
    Alteration,
    Listed,
    OneOf,
    Pause,
    Ramp,
    Scenario,
    Seconds,
    SpecialDay,
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


class NewListing(Scenario, frozen=True, kw_only=True, tag="new-listing"):
    """Instruments are listed from the start on: before it they have neither quotes nor bars."""

    symbols: tuple[str, ...] = ("RDDT",)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [Listed(start=start)]


class Delisting(Scenario, frozen=True, kw_only=True, tag="delisting"):
    """Instruments are listed until the start: after it they have no new quotes and bars."""

    symbols: tuple[str, ...] = ("INTC",)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """See Scenario."""
        return [Listed(end=start)]


class Holiday(Scenario, frozen=True, kw_only=True, tag="holiday"):
    """The stock exchange stays closed on the New York date of the start, from midnight to midnight."""

    def special_days(self, start: int) -> Sequence[SpecialDay]:
        """See Scenario."""
        return [SpecialDay(new_york_date(start))]


class HalfDay(Scenario, frozen=True, kw_only=True, tag="half-day"):
    """The stock exchange closes at 13:00 in New York (`close`) on the New York date of the start."""

    close: Annotated[str, Meta(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")] = "13:00"

    def special_days(self, start: int) -> Sequence[SpecialDay]:
        """See Scenario."""
        hours, minutes = self.close.split(":")
        return [SpecialDay(new_york_date(start), int(hours) * 60 + int(minutes))]
