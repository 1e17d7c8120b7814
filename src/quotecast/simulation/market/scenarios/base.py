"""Changes by a scenario: of prices, the calendar, the rate of messages, and their arrival.

A scenario is a frozen Struct with its parameters. Its hooks are pure functions of the time since its start in
milliseconds, and of the number of a message: the same seed, scenario and start give the same session.
"""

from collections.abc import Sequence
from datetime import date
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from quotecast.simulation.market.noise import noise

#: Seconds of market time, at most a week.
Seconds = Annotated[float, Meta(ge=0.1, le=7 * 86_400)]
#: Milliseconds of a delay, at most a minute.
Milliseconds = Annotated[int, Meta(ge=0, le=60_000)]
#: One of so many messages, on average.
OneOf = Annotated[int, Meta(ge=1, le=1_000_000)]

#: What a bad tick has in place of its price or time.
Spoil = Literal["zero", "hundredfold", "nan", "crossed", "future"]
#: How a vendor refuses requests; each vendor has its own words for it.
Refusal = Literal["maintenance", "rate-limited"]


class Ramp(Struct, frozen=True):
    """Factors of the price at moments (Unix milliseconds), linear between them and constant outside.

    Moments ascend; two factors at one moment are a jump.
    """

    points: tuple[tuple[int, float], ...]


def jump(moment: int, factor: float) -> Ramp:
    """Returns a change of the price at once, from a moment on."""
    return Ramp(((moment, 1.0), (moment, factor)))


class Pause(Struct, frozen=True):
    """A time without trades: from `start` until before `end`, in Unix milliseconds."""

    start: int
    end: int


class Split(Struct, frozen=True):
    """New shares for each old one, from a moment in Unix milliseconds on."""

    moment: int
    ratio: float

    @property
    def is_stock_dividend(self) -> bool:
        """Whether exchanges call it a stock dividend: fewer than one new share for four old ones."""
        return 1 < self.ratio < 1.25


class Listed(Struct, frozen=True):
    """The time in which an instrument trades, in Unix milliseconds; None where it has no bound."""

    start: int | None = None
    end: int | None = None


Alteration = Ramp | Pause | Split | Listed


class SpecialDay(Struct, frozen=True):
    """A day of the exchange with other hours: closed, or until an earlier close (local minutes)."""

    date: date
    close_minutes: int | None = None


class Scenario(Struct, frozen=True, kw_only=True, tag_field="name", forbid_unknown_fields=True):
    """An event of the market; `symbols` names the instruments that it concerns, all if it is empty."""

    #: How requests are refused.
    refusal: ClassVar[Refusal | None] = None

    symbols: tuple[str, ...] = ()

    @property
    def milliseconds(self) -> int | None:
        """Returns how long the scenario lasts, its `seconds`; None for one that does not end."""
        seconds: float | None = getattr(self, "seconds", None)
        return None if seconds is None else round(seconds * 1000)

    def alterations(self, start: int) -> Sequence[Alteration]:
        """Returns the changes to the prices of the concerned instruments."""
        del start
        return ()

    def special_days(self, start: int) -> Sequence[SpecialDay]:
        """Returns the changes to the calendar of the exchange."""
        del start
        return ()

    @property
    def rate(self) -> float:
        """Returns the factor of the rate of messages."""
        return 1.0

    @property
    def is_silent(self) -> bool:
        """Returns whether connections live but carry no messages, not even heartbeats."""
        return False

    def drops(self, before: int, elapsed: int) -> bool:
        """Returns whether all connections break between two times."""
        del before, elapsed
        return False

    def delays(self, elapsed: int, number: int) -> tuple[int, ...]:
        """Returns after how many milliseconds each copy of a message arrives; none for a lost message."""
        del elapsed, number
        return (0,)

    def spoil(self, number: int) -> Spoil | None:
        """Returns what is wrong with a message's price or time."""
        del number
        return None


def draw(key: bytes, number: int) -> int:
    """Returns 32 random bits, the same ones for the same key and number."""
    return int.from_bytes(noise(key, number, 0, 4))
