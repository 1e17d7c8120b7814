"""Quotes of any feed, and which feed has which symbol; no I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from quotecast_client.calls import Call, Moment, Page, path
from quotecast_client.names import KEYS, Feed, folded, split_name
from quotecast_client.rest_types import CryptoQuote, DovizQuote, StockQuote

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A quote of the market, of crypto or of doviz; `type` says which.
Quote = Union[StockQuote, CryptoQuote, DovizQuote]

#: Names of one feed that are read one by one; more are read with all others of the feed.
FEW = 5
#: Names of one request for stocks.
MOST = 500
#: Errors by which a feed says that it does not have a symbol.
ABSENT = frozenset({"symbol_not_found", "no_provider"})


def proposal_call(name: str) -> Call[Any]:
    """Returns the request whose error says what a name may mean that no feed has."""
    feeds, symbol = split_name(name)
    return Call("GET", path(f"/api/{feeds[0]}/quotes/{{}}", symbol))


def symbol_of(quote: Quote) -> str:
    """Returns the symbol of a quote."""
    found: str = quote["symbol"] if quote["type"] == "doviz_quote" else quote["ticker"]
    return found


class Lookup:
    """Finds quotes by name: each name in the first feed that has it, of market, crypto and doviz."""

    def __init__(self, names: Iterable[str]) -> None:
        #: The feeds that may have a name, and its symbol.
        self._names = {name: split_name(name) for name in names}
        self._found: dict[str, tuple[Feed, Any]] = {}
        #: The quotes of the feeds that a name such as `crypto:all` asks for.
        self._whole: dict[str, Any] = {}

    def calls(self, feed: Feed, at: Moment | None = None) -> list[Call[Any]]:
        """Returns the requests for the names that a feed may have and none before it had."""
        symbols = [symbol for _, symbol in self._open(feed)]
        if not symbols:
            return []
        if feed == "market":
            lists = ["all"] if "all" in symbols else _lists(symbols)
            return [Call("GET", "/api/market/quotes", {"symbols": text, "at": at}) for text in lists]
        if "all" in symbols or at is not None or len(symbols) > FEW:
            return [Call("GET", f"/api/{feed}/quotes", {"at": at})]
        return [Call("GET", path(f"/api/{feed}/quotes/{{}}", symbol)) for symbol in symbols]

    def take(self, feed: Feed, page: Page[dict[str, Any]]) -> None:
        """Takes the answer to a request: one quote, or quotes by symbol."""
        answer = page.data
        quotes = [answer] if isinstance(answer.get("type"), str) else list(answer.values())
        by_symbol = {folded(quote[KEYS[feed]]): quote for quote in quotes}
        for former, symbol in page.renamed.items():
            if folded(symbol) in by_symbol:
                by_symbol[folded(former)] = by_symbol[folded(symbol)]
        for name, symbol in self._open(feed):
            if symbol == "all":
                self._whole.update({quote[KEYS[feed]]: quote for quote in quotes})
            elif folded(symbol) in by_symbol:
                self._found[name] = feed, by_symbol[folded(symbol)]

    def quotes(self) -> dict[str, Quote]:
        """Returns the quotes found, by the name that asked for them; those of a whole feed by symbol."""
        return {**self._whole, **{name: quote for name, (_, quote) in self._found.items()}}

    def places(self) -> dict[str, tuple[Feed, str]]:
        """Returns the feed and the symbol of each name found."""
        return {name: (feed, quote[KEYS[feed]]) for name, (feed, quote) in self._found.items()}

    def _open(self, feed: Feed) -> list[tuple[str, str]]:
        """Returns the names, with their symbols, that a feed may have and none before it had."""
        return [
            (name, symbol)
            for name, (feeds, symbol) in self._names.items()
            if feed in feeds and name not in self._found
        ]


def _lists(symbols: list[str]) -> list[str]:
    """Returns symbols as lists of queries; the ticker ALL alone would mean every stock."""
    parts = [symbols[start : start + MOST] for start in range(0, len(symbols), MOST)]
    return [",".join(part if part != ["ALL"] else ["ALL", "ALL"]) for part in parts]
