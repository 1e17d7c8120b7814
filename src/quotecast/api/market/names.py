"""Instruments and companies as users name them: the feed that has one, and its canonical spelling."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from quotecast.errors import NoData
from quotecast.feed.documents import Documents
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.mirror import Mirror
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.metals import METALS

Mirrors = Mapping[Feed, Mirror]

#: Companies outside the assets document that a worker remembers.
MAX_COMPANIES: Final = 10_000

_FEEDS: Final = {feed.spec.name: feed for feed in Feed}
_COMPANIES: Final = "financials"
#: Prices are of instruments of all feeds, and of metals.
_PRICES: Final = "prices"


def first_with(mirrors: Mirrors, ticker: str, feeds: Iterable[Feed] = Feed) -> tuple[Feed, QuoteEntry] | None:
    """Returns the first of the feeds that has the ticker, and its entry; None if no feed has it."""
    return next(((feed, entry) for feed in feeds if (entry := mirrors[feed].find(ticker))), None)


def require_data(mirrors: Mirrors, ticker: str, feeds: Iterable[Feed]) -> None:
    """Raises NoData for the first feed without data that may have the ticker, by its spelling."""
    for feed in feeds:
        if not mirrors[feed].loaded and canonical_symbol(feed, ticker):
            raise NoData(feed)


def stored_spelling(mirrors: Mirrors, ticker: str) -> str | None:
    """Returns the ticker as its feed spells it, else in upper case; None if no feed could have it.

    A former symbol stays: what was stored before the rename has it, too.
    """
    found = first_with(mirrors, ticker)
    if found and not mirrors[found[0]].renamed([(ticker, found[1].key)]):
        return found[1].key
    spelling = next((spelling for feed in Feed if (spelling := canonical_symbol(feed, ticker))), None)
    return spelling.upper() if spelling else None


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
        """Returns the symbol of a company, of a former one the present symbol; None for an unknown name."""
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
