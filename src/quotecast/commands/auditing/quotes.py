"""The figures of quotes, of a feed or of an upstream: their number, ages, silences and steps back in time."""

from quotecast.commands.auditing.ages import Ages
from quotecast.commands.auditing.moments import Moment, milliseconds
from quotecast.commands.auditing.silences import SymbolSilences


class QuoteFigures:
    """Takes the quotes of one feed in the order in which they come."""

    def __init__(self) -> None:
        #: Number of quotes.
        self.count = 0
        #: Number of quotes older than the one before of their symbol.
        self.backwards = 0
        self.ages = Ages()
        self.silences = SymbolSilences()
        self._times: dict[str, float] = {}

    def take(self, symbol: str, timestamp: str | None, now: Moment, *, counts: bool = True) -> float | None:
        """Takes a quote; returns its time in Unix milliseconds.

        The first quote of a symbol has no age: it was there before we came. `counts` is false for the quotes
        of a snapshot.
        """
        self.count += counts
        self.silences.note(symbol, now.steady)
        if timestamp is None:
            return None
        time, before = milliseconds(timestamp), self._times.get(symbol)
        self._times[symbol] = time
        if before is not None and time != before:
            self.backwards += time < before
            if counts:
                self.ages.add(now.unix * 1000 - time)
        return time

    def forget(self, symbol: str) -> None:
        """Drops a symbol that is gone."""
        self._times.pop(symbol, None)
        self.silences.forget(symbol)
