"""The scenarios of a session and when each begins; several at once have their effects one after the other."""

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Final
from zlib import crc32

from msgspec import Struct

from quotecast.errors import UpstreamError
from quotecast.simulation.market.scenarios.base import (
    Alteration,
    Listed,
    Pause,
    Refusal,
    Scenario,
    SpecialDay,
    Split,
    Spoil,
)

#: Seconds that a refusal asks to wait.
RETRY_SECONDS: Final = 5.0
_REASONS: Final[dict[Refusal, str]] = {
    "maintenance": "The simulator is under maintenance",
    "rate-limited": "The simulator refuses requests: too many of them",
}


def number_of(symbol: str, number: int) -> int:
    """Returns a number of a message: instruments trade at the same moments, their messages differ."""
    return number ^ crc32(symbol.encode()) << 30


class Planned(Struct, frozen=True):
    """A scenario and its start in Unix milliseconds of the market."""

    scenario: Scenario
    start: int

    def is_active(self, moment: int) -> bool:
        """Returns whether a moment is within the scenario."""
        length = self.scenario.milliseconds
        return self.start <= moment and (length is None or moment < self.start + length)

    def concerns(self, symbol: str) -> bool:
        """Returns whether the scenario changes an instrument."""
        symbols = self.scenario.symbols
        return not symbols or symbol in symbols or _twin_of(symbol) in symbols


class Schedule:
    """The planned scenarios; `add` starts one more while a session runs."""

    def __init__(self, planned: Iterable[Planned] = ()) -> None:
        self.planned: tuple[Planned, ...] = tuple(planned)
        #: The changes by instrument, and the plan that they come from.
        self._alterations: dict[str, Sequence[Alteration]] = {}
        self._altered_by = self.planned

    def add(self, planned: Planned) -> None:
        """Adds a scenario after all others."""
        self.planned = (*self.planned, planned)

    def clear(self) -> None:
        """Ends all scenarios, and those that have not begun."""
        self.planned = ()

    def alterations(self, symbol: str) -> Sequence[Alteration]:
        """Returns the changes to the prices of one of the market's instruments."""
        if self._altered_by is not self.planned:
            self._alterations, self._altered_by = {}, self.planned
        found = self._alterations.get(symbol)
        if found is None:
            found = self._alterations[symbol] = [
                each
                for planned in self.planned
                if planned.concerns(symbol)
                for each in planned.scenario.alterations(planned.start)
            ]
        return found

    def splits(self, symbol: str) -> list[Split]:
        """Returns the splits and stock dividends of one of the market's instruments."""
        return [each for each in self.alterations(symbol) if isinstance(each, Split)]

    def is_listed(self, symbol: str, moment: int) -> bool:
        """Returns whether the market has one of its instruments at a moment."""
        second = _second_of(moment)
        return all(
            (each.start is None or each.start <= second) and (each.end is None or second < each.end)
            for each in self.alterations(symbol)
            if isinstance(each, Listed)
        )

    def is_halted(self, symbol: str, moment: int) -> bool:
        """Returns whether one of the market's instruments is halted."""
        second = _second_of(moment)
        return any(
            each.start <= second < each.end for each in self.alterations(symbol) if isinstance(each, Pause)
        )

    def special_days(self) -> Sequence[SpecialDay]:
        """Returns the changes to the calendar of the exchange."""
        return [each for planned in self.planned for each in planned.scenario.special_days(planned.start)]

    def rate(self, moment: int) -> float:
        """Returns the factor of the rate of messages."""
        return prod((each.scenario.rate for each in self._active(moment)), start=1.0)

    def is_silent(self, moment: int) -> bool:
        """Returns whether connections carry no messages."""
        return any(each.scenario.is_silent for each in self._active(moment))

    def drops(self, before: int, moment: int) -> bool:
        """Returns whether all connections break after `before`, up to a moment."""
        return any(
            each.scenario.drops(max(before - each.start, 0), moment - each.start)
            for each in self._active(moment)
        )

    def delays(self, moment: int, symbol: str, number: int) -> tuple[int, ...]:
        """Returns after how many milliseconds each copy of a message arrives."""
        delays: tuple[int, ...] = (0,)
        for each in self._active(moment):
            if each.concerns(symbol):
                more = each.scenario.delays(moment - each.start, number_of(symbol, number))
                delays = tuple(first + second for first in delays for second in more)
        return delays

    def spoil(self, moment: int, symbol: str, number: int) -> Spoil | None:
        """Returns what is wrong with a message's price or time."""
        found = (
            each.scenario.spoil(number_of(symbol, number))
            for each in self._active(moment)
            if each.concerns(symbol)
        )
        return next(filter(None, found), None)

    def refusal(self, moment: int) -> Refusal | None:
        """Returns how requests are refused."""
        found = (each.scenario.refusal for each in self._active(moment))
        return next(filter(None, found), None)

    def admit(self, moment: int) -> None:
        """Lets a request of the service pass. Raises UpstreamError, with `retry_after`, for a refused one."""
        if refusal := self.refusal(moment):
            raise UpstreamError(_REASONS[refusal], retry_after=RETRY_SECONDS)

    def _active(self, moment: int) -> Iterator[Planned]:
        return (each for each in self.planned if each.is_active(moment))


def _second_of(moment: int) -> int:
    """Returns the start of a second: prices have the changes of that moment until the next second."""
    return moment - moment % 1000


def _twin_of(symbol: str) -> str:
    """Returns the pair with the same prices: that in USDT for one in USD, and the reverse."""
    if symbol.endswith("/USD"):
        return symbol + "T"
    return symbol[:-1] if symbol.endswith("/USDT") else symbol
