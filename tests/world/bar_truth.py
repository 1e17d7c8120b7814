"""The final bars of one feed on one bus of a world: each is final once, and the same wherever it is read."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from quotecast.market.own_bars import Closing, LiveInterval, OwnBar
from world.clock import wall_time

#: Takes a broken promise: its name, and what broke it.
Break = Callable[[str, str], None]
#: Seconds in which a final bar is stored, without faults.
_WRITER_SECONDS: Final = 6.0

#: The length of a bar, its symbol, and the Unix time of its opening.
Place = tuple[LiveInterval, str, int]


class BarTruth:
    """The final bars of one feed, read from the closings that its bus has."""

    def __init__(self, feed: str, broken: Break) -> None:
        self._feed = feed
        self._broken = broken
        #: Whether no clock of the world was ever wrong.
        self.clocks_are_right = True
        #: The bars of the live feed, for those of a delayed one.
        self.live: BarTruth | None = None
        #: Final bars by their place, then by the history of Redis that has them. After a loss they are those
        #: of the ingest that leads then: another one may have led while it was cut off, or on another master.
        self._bars: dict[Place, dict[int, OwnBar]] = {}
        #: The ends of the bars, and the histories in which their closing was published.
        self._ends: dict[Place, int] = {}
        self._closings: dict[int, set[int]] = {}
        #: The history of the server that publishes, and how often Redis has lost data.
        self.history = self.losses = 0

    def close(self, closing: Closing) -> None:
        """Takes a closing that was published."""
        self._closings.setdefault(closing.through, set()).add(self.history)
        for interval, bars in closing.bars.items():
            for key, bar in bars.items():
                place = interval, key, bar.opened
                known = self._bars.setdefault(place, {}).setdefault(self.history, bar)
                self._ends[place] = closing.through
                if self.clocks_are_right and closing.through > wall_time():
                    self._broken("a final bar has ended", f"{self._feed} {key}: {bar} of {interval}")
                if known != bar:
                    self._broken("a final bar is final", f"{self._feed} {key}: {bar} after {known}")

    def variants(self, place: Place) -> list[OwnBar]:
        """Returns the bars that may be final at a place; there are several only after losses of Redis."""
        found = [*self._bars.get(place, {}).values()]
        return found if self.live is None else found + self.live.variants(place)

    def surely_known(self, interval: LiveInterval, key: str, closings: Iterable[int]) -> Iterator[Place]:
        """Yields the places of a symbol's bars that every reader has who has some closings."""
        ends = {*closings}
        for place, bars in self._bars.items():
            end = self._ends[place]
            if place[:2] == (interval, key) and end in ends and bars.keys() == self._closings[end]:
                yield place

    def ends(self) -> Iterable[int]:
        """Returns the Unix times of all closings."""
        return self._closings

    def check_sent(self, who: str, key: str, bar: Mapping[str, Any]) -> None:
        """Checks a final bar of a minute that a feed sent to a client."""
        opened = int(datetime.fromisoformat(bar["time"]).timestamp())
        known = self._bars.get(("1m", key, opened), {}).values()
        prices = [(each.open, each.high, each.low, each.close, each.volume) for each in known]
        if (bar["open"], bar["high"], bar["low"], bar["close"], bar.get("volume")) not in prices:
            self._broken("a final bar is the same everywhere", f"{who} has {bar} of {key} instead of {known}")

    def check_stored(
        self, stored: Mapping[tuple[str, str, str, datetime], Any], *, all_of_them: bool
    ) -> None:
        """Checks the bars in PostgreSQL; its writer may not have the newest ones yet."""
        for (interval, key, opened), known in self._bars.items():
            row = stored.get((interval, self._feed, key, datetime.fromtimestamp(opened, UTC)))
            bars = [
                (each.open, each.high, each.low, each.close, each.volume, each.updates)
                for each in known.values()
            ]
            if row is None:
                end = self._ends[interval, key, opened]
                if all_of_them and end < wall_time() - _WRITER_SECONDS:
                    self._broken("a final bar is stored", f"{self._feed} {key} has {bars} of {interval}")
            elif row not in bars:
                self._broken(
                    "a final bar is the same everywhere", f"PostgreSQL has {row} of {key} instead of {bars}"
                )
