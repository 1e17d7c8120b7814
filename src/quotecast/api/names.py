"""Names of instruments and companies: which of those in a path are real, and how each is spelled."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol

#: Companies outside the assets document that a worker remembers.
MAX_ANSWERED: Final = 10_000

_FEEDS: Final = {feed.spec.name: feed for feed in Feed}
_COMPANIES: Final = "financials"


class Names:
    """Tells real names from invented ones, by what this worker holds now; asks nobody.

    A feed knows the symbols that have a quote. A company is known if it is listed, or if the upstream has
    answered for it; the last MAX_ANSWERED of these are remembered.
    """

    def __init__(self, mirrors: Mapping[Feed, Mirror], documents: Documents) -> None:
        self._mirrors = mirrors
        self._assets = documents.assets
        self._answered: OrderedDict[str, None] = OrderedDict()

    def find(self, group: str, text: str) -> str | None:
        """The one spelling of a name in a path of that group of routes; None for an unknown name.

        Groups of account routes have ids in their paths, and no names.
        """
        if group == _COMPANIES:
            symbol = canonical_symbol(Feed.STOCKS, text)
            return symbol if symbol and self._has_company(symbol) else None
        feed = _FEEDS.get(group)
        entry = self._mirrors[feed].find(text) if feed else None
        return entry.key if entry else None

    def is_invented(self, symbol: str) -> bool:
        """Whether a company is unknown although there is a list of assets to look it up in."""
        return self._assets.items is not None and not self._has_company(symbol)

    def is_listed(self, symbol: str) -> bool:
        """Whether the symbol is among the assets or the stocks of the feed."""
        assets = self._assets
        tickers = assets.once("tickers", lambda: {asset.ticker for asset in assets.items or ()})
        return symbol in tickers or self._mirrors[Feed.STOCKS].find(symbol) is not None

    def answered(self, symbol: str) -> None:
        """Remembers a company that the upstream has answered for."""
        self._answered[symbol] = None
        self._answered.move_to_end(symbol)
        if len(self._answered) > MAX_ANSWERED:
            self._answered.popitem(last=False)

    def _has_company(self, symbol: str) -> bool:
        return symbol in self._answered or self.is_listed(symbol)
