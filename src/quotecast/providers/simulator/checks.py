"""Checks of what arrives from the simulated upstream: the same as those of a vendor's quotes."""

from collections.abc import Iterable, Mapping
from math import isfinite

from quotecast.market.numbers import MAX_SKEW
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote
from quotecast.providers.refusals import Reason, RefusalCounter
from quotecast.providers.validation.judgement import Judge
from quotecast.simulation.market.arrivals import Arrival
from quotecast.simulation.market.quoters import NAME, iso

_SKEW_MS = int(MAX_SKEW.total_seconds() * 1000)


class Checks:
    """The believable quotes of one feed, over all its connections.

    It refuses, and counts by reason, a quote without a price above zero or from the future (`unreadable`),
    older than one already taken (`outdated`), and one whose price is far from the last good one, or whose bid
    is above its ask (`absurd`). A new previous close judges the price with it: a split may change both by
    more than a crash. Its times are Unix milliseconds of the market.
    """

    def __init__(self) -> None:
        self._refused = RefusalCounter(NAME)
        self._judge = Judge()
        #: The newest previous close of each instrument, and when it was sent.
        self._closes: dict[str, tuple[int, float]] = {}

    def statistics(self) -> Mapping[str, int]:
        """Returns how many quotes it refused since the start, by reason."""
        return self._refused.by_reason()

    def believe(self, quotes: Iterable[Quote], moment: int) -> None:
        """Takes quotes that are right; they judge later ones."""
        for quote in quotes:
            self._judge.refer(quote.key, quote.price, moment / 1000)

    def take(self, arrivals: Iterable[Arrival], moment: int) -> list[Quote]:
        """Returns the newest believable quote of each instrument."""
        quotes: dict[str, Quote] = {}
        latest = iso(moment + _SKEW_MS)
        for arrival in arrivals:
            if reason := self._doubt(arrival, moment, latest):
                self._refused.count(reason)
            else:
                quotes[arrival.quote.key] = arrival.quote
        return [*quotes.values()]

    def _doubt(self, arrival: Arrival, moment: int, latest: str) -> Reason | None:
        quote = arrival.quote
        if not isfinite(quote.price) or quote.price <= 0 or (quote.timestamp or "") > latest:
            return "unreadable"
        if _is_crossed(quote):
            return "absurd"
        close = None if isinstance(quote, CryptoQuote) else quote.previous_close
        sent, before = self._closes.get(quote.key, (0, None))
        if close is not None and arrival.sent >= sent:
            self._closes[quote.key] = (arrival.sent, close)
            if before is not None and close != before:
                self._judge.refer(quote.key, close, moment / 1000)
        return self._judge.doubt(quote.key, quote.price, moment / 1000, arrival.sent)


def _is_crossed(quote: Quote) -> bool:
    match quote:
        case CryptoQuote(bid=float(bid), ask=float(ask)):
            return bid > ask
        case DovizQuote():
            return quote.buying > quote.selling
        case _:
            return False
