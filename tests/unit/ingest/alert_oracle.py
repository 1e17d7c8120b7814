"""What alerts must find, from the list of all updates: slow, and written apart from the service's own way."""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote, StockQuote
from support.stages.alert_store import AlertRow, Event

_MINUTES: Final = {"5m": 5, "15m": 15, "1h": 60}
#: Ends of days in these venues' winter, in hours of UTC.
_MIDNIGHT: Final = {Feed.STOCKS: 5, Feed.CRYPTO: 0, Feed.DOVIZ: 21}
_REMEMBERED: Final = 120


class AlertOracle:
    """One feed, whose venue never closes. What no bus has yet can be lost with the leader."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._quotes: dict[str, Quote | None] = {}
        #: Closes of one-minute bars, by symbol and opening, and the openings in order.
        self._closes: dict[str, dict[int, float]] = {}
        self._openings: dict[str, list[int]] = {}
        #: Ends of bars of all intervals.
        self._ends: list[int] = []
        self._undo: list[tuple[str, Quote | None, int | None, float | None]] = []
        self._pending: list[tuple[AlertRow, Event]] = []
        self.events: list[Event] = []

    def update(self, quote: Quote, now: float, alerts: Iterable[AlertRow], *, crosses: bool) -> None:
        key, before = quote.key, self._quotes.get(quote.key)
        if before == quote:
            return
        mine = [each for each in alerts if each.feed is self._feed and each.ticker == key and each.active]
        known = crosses and before is not None
        old = {each.measure: self._value(each.measure, before, now) for each in mine if known and before}
        opening = self._minute(quote, now)
        previous = self._closes.get(key, {}).get(opening) if opening is not None else None
        self._undo.append((key, before, opening, previous))
        self._quotes[key] = quote
        if opening is not None:
            self._count(key, opening, quote.price)
        for alert in mine:
            start = old.get(alert.measure)
            value = self._value(alert.measure, quote, now)
            if start is None or value is None or (alert.is_spent and not alert.repeats):
                continue
            if alert.is_crossed(start, value):
                alert.is_spent = True
                self._pending.append((alert, (alert.id, now, value)))

    def remove(self, keys: Iterable[str]) -> None:
        for key in keys:
            if self._quotes.get(key) is not None:
                self._undo.append((key, self._quotes[key], None, None))
                self._quotes[key] = None

    def symbols(self) -> set[str]:
        """Returns the symbols that ever had a bar."""
        return {*self._closes}

    def keys(self) -> set[str]:
        """Returns the symbols that are there."""
        return {key for key, quote in self._quotes.items() if quote is not None}

    def commit(self) -> None:
        """The bus has all updates."""
        self.events += [event for _, event in self._pending]
        self._pending.clear()
        self._undo.clear()

    def lose(self) -> None:
        """The leader died, and with it all updates that the bus does not have."""
        for alert, _ in self._pending:
            alert.is_spent = False
        self._pending.clear()
        for key, quote, opening, close in reversed(self._undo):
            self._quotes[key] = quote
            if opening is not None and close is not None:
                self._closes[key][opening] = close
            elif opening is not None:
                del self._closes[key][opening]
                self._openings[key].pop()
        self._undo.clear()
        openings = {opening for own in self._openings.values() for opening in own}
        self._ends = sorted({end for opening in openings for end in self._ends_of(opening)})

    def _minute(self, quote: Quote, now: float) -> int | None:
        """Returns the minute in which an update counts; None if it is too late for any."""
        assert quote.timestamp is not None
        present = int(now) // 60 * 60
        stated = int(datetime.fromisoformat(quote.timestamp).timestamp()) // 60 * 60
        if present - stated > 600:
            return None
        newest = self._openings.get(quote.key, [0])[-1:] or [0]
        return max(min(stated, present), self._closed(now), *newest)

    def _count(self, key: str, opening: int, price: float) -> None:
        closes = self._closes.setdefault(key, {})
        if opening not in closes:
            self._openings.setdefault(key, []).append(opening)
            for end in self._ends_of(opening):
                place = bisect_right(self._ends, end)
                if not place or self._ends[place - 1] != end:
                    self._ends.insert(place, end)
        closes[opening] = price

    def _ends_of(self, opening: int) -> list[int]:
        shift = _MIDNIGHT[self._feed] * 3600
        day = (opening - shift) // 86_400 * 86_400 + 86_400 + shift
        return [*((opening // length + 1) * length for length in (60, 300, 900, 3600)), day]

    def _value(self, measure: str, quote: Quote, now: float) -> float | None:
        if measure == "price":
            return quote.price
        if measure == "day":
            return quote.change_percent
        openings = self._openings.get(quote.key)
        if not openings:
            return None
        until = openings[-1] - 60 * _MINUTES[measure]
        closed = self._ends[: bisect_right(self._ends, self._closed(now))][-_REMEMBERED:]
        for opening in reversed(openings):
            if opening + 60 <= until:
                base = self._closes[quote.key][opening]
                is_old = not closed or opening + 60 < closed[0]
                if is_old or self._is_split(quote, opening, base, now):
                    return None
                return round((quote.price - base) / base * 100, 9)
        return None

    def _is_split(self, quote: Quote, opening: int, close: float, now: float) -> bool:
        """Returns whether a close of a day before is a fifth or more from the stock's previous close."""
        shift = _MIDNIGHT[self._feed] * 3600
        if not isinstance(quote, StockQuote) or opening >= (int(now) - shift) // 86_400 * 86_400 + shift:
            return False
        ratio = close / (quote.previous_close or quote.price)
        return ratio >= 1.2 or ratio <= 1 / 1.2

    def _closed(self, now: float) -> int:
        return (int(now) - 2) // 60 * 60
