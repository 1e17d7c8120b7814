"""Tickers as users write them: the feed that has one, and its spelling there."""

from collections.abc import Iterable, Mapping

from quotecast.errors import NoData
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol

Mirrors = Mapping[Feed, Mirror]


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
