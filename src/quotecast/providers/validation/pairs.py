"""Checks of the quotes of one crypto upstream."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec.structs import replace

from quotecast.market.quotes import CryptoQuote
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.judgement import Judge

_PRICES: Final = ("bid", "ask", "open", "high", "low")


class Pairs:
    """The last believable quote of each pair, over all connections of an upstream.

    It refuses, and counts by reason, a quote without a readable price (`unreadable`), older than one already
    taken (`outdated`), or whose price is more than ten times or less than a tenth of the last good one of
    the past hour (`absurd`). Other fields that cannot be read or leap that far (`unreadable_field`,
    `absurd_field`) keep their last good value, and so do a bid and an ask below it.
    """

    def __init__(self, provider: str) -> None:
        self.refused = RefusalCounter(provider)
        self._prices = Judge()
        self._fields = Judge()
        self._known: dict[str, CryptoQuote] = {}

    def quotes(self) -> list[CryptoQuote]:
        """Returns the last good quote of every pair."""
        return list(self._known.values())

    def price_of(self, pair: str) -> float | None:
        """Returns the last good price of a pair."""
        quote = self._known.get(pair)
        return quote.price if quote is not None else None

    def keep_only(self, pairs: Collection[str]) -> list[str]:
        """Forgets every pair not among these. Returns the forgotten ones, sorted."""
        gone = self._prices.keep_only(pairs)
        self._fields.keep_only(f"{pair} {name}" for pair in pairs for name in _PRICES)
        for pair in gone:
            self._known.pop(pair, None)
        return gone

    def take(
        self, quote: CryptoQuote | None, unreadable: Iterable[str], received: float, order: float = 0
    ) -> CryptoQuote | None:
        """Returns the believable form of a quote received at that Unix time; None for a refused quote.

        `unreadable` has the names of its unreadable fields; `order` is that of `Judge.doubt`.
        """
        if quote is None:
            self.refused.count("unreadable")
            return None
        if reason := self._prices.doubt(quote.key, quote.price, received, order):
            self.refused.count(reason)
            return None
        self._known[quote.key] = self._with_last_good_fields(quote, unreadable, received)
        return self._known[quote.key]

    def _with_last_good_fields(
        self, quote: CryptoQuote, unreadable: Iterable[str], received: float
    ) -> CryptoQuote:
        """Returns the quote with the last good values in place of doubtful ones."""
        doubtful = list(unreadable)
        self.refused.count("unreadable_field", len(doubtful))
        for name in _PRICES:
            value = getattr(quote, name)
            if value is not None and self._fields.doubt(f"{quote.key} {name}", value, received):
                self.refused.count("absurd_field")
                doubtful.append(name)
        if not doubtful and quote.bid is not None and quote.ask is not None and quote.bid > quote.ask:
            self.refused.count("absurd_field", 2)
            doubtful += ["bid", "ask"]
        if not doubtful:
            return quote
        before = self._known.get(quote.key)
        return replace(quote, **{name: getattr(before, name, None) for name in doubtful})


def newest(quotes: Iterable[CryptoQuote | None]) -> list[CryptoQuote]:
    """Returns the last quote of each pair."""
    return list({quote.key: quote for quote in quotes if quote}.values())
