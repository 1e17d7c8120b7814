"""Canonical names of instruments and companies in paths."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from quotecast.api.market.lookup import first_with
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.metals import METALS

#: Companies outside the assets document that a worker remembers.
MAX_COMPANIES: Final = 10_000

_FEEDS: Final = {feed.spec.name: feed for feed in Feed}
_COMPANIES: Final = "financials"
#: Prices are of instruments of all feeds, and of metals.
_PRICES: Final = "prices"


class Names:
    """Decides by this worker's data which names exist; calls no upstream.

    A feed knows the symbols that have a quote. A company is known if it is listed, or if the upstream has
    answered for it; the last MAX_COMPANIES of these stay known.
    """

    def __init__(self, mirrors: Mapping[Feed, Mirror], documents: Documents) -> None:
        self._mirrors = mirrors
        self._assets = documents.assets
        self._companies: OrderedDict[str, None] = OrderedDict()

    def find(self, group: str, text: str) -> str | None:
        """Returns the canonical spelling of a name in a path of a route group; None for an unknown name.

        Paths of account routes have ids and no names.
        """
        if group == _COMPANIES:
            symbol = self.company(text)
            return symbol if symbol and self.has_company(symbol) else None
        if group == _PRICES:
            code, found = text.upper(), first_with(self._mirrors, text)
            return code if code in METALS else found and found[1].key
        feed = _FEEDS.get(group)
        entry = self._mirrors[feed].find(text) if feed else None
        return entry.key if entry else None

    def company(self, text: str) -> str | None:
        """Returns the symbol of a company, of a former one the present symbol; None for what is no symbol."""
        symbol = _spell(text)
        if symbol is None or symbol in self._assets.derive(_tickers):
            return symbol
        entry = self._mirrors[Feed.STOCKS].find(symbol)
        return symbol if entry is None else entry.key

    def is_listed(self, symbol: str) -> bool:
        """Whether the symbol is among the assets or the stocks of the feed."""
        tickers = self._assets.derive(_tickers)
        return symbol in tickers or self._mirrors[Feed.STOCKS].find(symbol) is not None

    def remember_company(self, symbol: str) -> None:
        """Adds a company that the upstream has answered for."""
        self._companies[symbol] = None
        self._companies.move_to_end(symbol)
        if len(self._companies) > MAX_COMPANIES:
            self._companies.popitem(last=False)

    def has_company(self, symbol: str) -> bool:
        """Whether the company is listed, or the upstream has answered for it."""
        return symbol in self._companies or self.is_listed(symbol)


@lru_cache(maxsize=4096)
def _spell(text: str) -> str | None:
    """Returns the symbol of a company; each limited request asks."""
    return canonical_symbol(Feed.STOCKS, text)


def _tickers(assets: Sequence[Asset]) -> frozenset[str]:
    return frozenset(asset.ticker for asset in assets)
