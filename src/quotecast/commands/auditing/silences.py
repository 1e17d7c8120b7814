"""The longest times without a sign of life."""

from collections import Counter
from heapq import nlargest


class Silence:
    """The longest time between two signs of life; it begins at `start`, in seconds of a steady clock."""

    def __init__(self, start: float) -> None:
        self._last = start
        self._longest = 0.0

    def note(self, now: float) -> float:
        """Ends a silence; returns its length."""
        length = now - self._last
        self._longest = max(self._longest, length)
        self._last = now
        return length

    def longest(self, now: float) -> float:
        """Returns the longest silence; the present one counts, too."""
        return max(self._longest, now - self._last)


class SymbolSilences:
    """The longest time without a change of each symbol."""

    def __init__(self) -> None:
        self._symbols: dict[str, Silence] = {}

    def note(self, symbol: str, now: float) -> None:
        """Ends a symbol's silence; the first one begins with its first quote."""
        if symbol in self._symbols:
            self._symbols[symbol].note(now)
        else:
            self._symbols[symbol] = Silence(now)

    def forget(self, symbol: str) -> None:
        """Drops a symbol that is gone."""
        self._symbols.pop(symbol, None)

    def longest(self, count: int, now: float) -> dict[str, float]:
        """Returns the symbols with the longest silences, the longest first."""
        lengths = Counter({symbol: silence.longest(now) for symbol, silence in self._symbols.items()})
        return dict(nlargest(count, lengths.items(), key=lambda each: each[1]))
