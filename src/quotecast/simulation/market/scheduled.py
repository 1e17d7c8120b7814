"""Tapes that follow the scenarios of a session, also those that begin while it runs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from operator import attrgetter, mul

from msgspec.structs import replace

from quotecast.simulation.market.altered import AlteredTape
from quotecast.simulation.market.candles import MINUTE
from quotecast.simulation.market.changes import Changes, whole_second
from quotecast.simulation.market.hours import Hours, midnight_of
from quotecast.simulation.market.listings import Listing
from quotecast.simulation.market.scenarios.base import Alteration, Pause, SpecialDay, Split
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.tape import Tape

#: Returns the changes that a schedule makes to an instrument of a venue with these hours.
Alterations = Callable[[Schedule, str, Hours], Sequence[Alteration]]


class ScheduledTape:
    """See TapeSource."""

    def __init__(self, tape: Tape, symbol: str, schedule: Schedule, alterations: Alterations) -> None:
        self.listing: Listing = tape.listing
        self.hours: Hours = tape.hours
        self._base = tape
        self._schedule = schedule
        self._alterations_now = partial(alterations, schedule, symbol, tape.hours)
        self._planned: object = None
        self._alterations: Sequence[Alteration] | None = None
        self._splits: list[Split] = []
        #: The tape as of the time before the first split, before the second, and so on.
        self._views: list[Tape] = [tape]
        self._raw = tape

    def at(self, moment: int) -> Tape:
        """See TapeSource."""
        self._follow()
        if not self._splits:
            return self._views[0]
        return self._views[sum(split.moment <= moment for split in self._splits)]

    def raw(self) -> Tape:
        """See TapeSource."""
        self._follow()
        return self._raw

    def _follow(self) -> None:
        """Takes over the schedule's changes; the tapes stay the same objects where it has none."""
        if self._planned is self._schedule.planned:
            return
        self._planned = self._schedule.planned
        alterations = self._alterations_now()
        if alterations == self._alterations:
            return
        self._alterations = alterations
        self._splits = sorted(_splits(alterations), key=attrgetter("moment"))
        others = [each for each in alterations if not isinstance(each, Split)]
        shares = accumulate((split.ratio for split in self._splits), mul, initial=1.0)
        base = self._base
        self._views = [
            AlteredTape(base, Changes(others, shares=each)) if alterations else base for each in shares
        ]
        self._raw = AlteredTape(base, Changes(others, self._splits)) if self._splits else self._views[0]


def _splits(alterations: Sequence[Alteration]) -> Iterator[Split]:
    for each in alterations:
        if isinstance(each, Split):
            yield replace(each, moment=whole_second(each.moment))


def stock_alterations(schedule: Schedule, ticker: str, hours: Hours) -> list[Alteration]:
    """Returns the changes to a stock; it does not trade while a special day closes the exchange."""
    return [*schedule.alterations(ticker), *_closures(schedule.special_days(), hours)]


def other_alterations(schedule: Schedule, symbol: str, _hours: Hours) -> list[Alteration]:
    """Returns the changes to a pair, currency or metal: it has no shares that could split."""
    return [each for each in schedule.alterations(symbol) if not isinstance(each, Split)]


def _closures(days: Iterable[SpecialDay], hours: Hours) -> Iterator[Pause]:
    for day in days:
        ordinal = day.date.toordinal()
        start = midnight_of(ordinal, hours.zone) + (day.close_minutes or 0) * MINUTE
        yield Pause(start, midnight_of(ordinal + 1, hours.zone))
