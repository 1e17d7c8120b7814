"""Tickers as users write them: which feed knows one, how it is spelled, what it is quoted at."""

from collections.abc import Mapping
from typing import Final

from quotecast.errors import NoData
from quotecast.feed.mirror import Entry, Mirror
from quotecast.market.feeds import Feed, Kind
from quotecast.market.instruments import canonical_symbol

#: In the order in which a ticker without a kind is looked up.
FEEDS: Final[dict[Kind, Feed]] = {feed.spec.kind: feed for feed in Feed}

Mirrors = Mapping[Feed, Mirror]


def first_known(mirrors: Mirrors, ticker: str) -> tuple[Kind, Entry] | None:
    """The first of the kinds whose feed has the ticker, and its entry."""
    return next(
        ((kind, entry) for kind, feed in FEEDS.items() if (entry := mirrors[feed].find(ticker))), None
    )


def known(mirrors: Mirrors, ticker: str, kinds: list[Kind]) -> tuple[Kind, Entry] | None:
    """The first of the kinds that knows the ticker, and its entry.

    Raises NoData when none knows it but one of them may once it has data.
    """
    for kind in kinds:
        if entry := mirrors[FEEDS[kind]].find(ticker):
            return kind, entry
    for kind in kinds:
        if not mirrors[FEEDS[kind]].loaded and canonical_symbol(FEEDS[kind], ticker):
            raise NoData(FEEDS[kind])
    return None


def spelled(mirrors: Mirrors, ticker: str) -> str | None:
    """The ticker as its feed spells it, else in upper case; None for what can be no ticker."""
    if found := first_known(mirrors, ticker):
        return found[1].key
    spellings = (canonical_symbol(feed, ticker) for feed in FEEDS.values())
    spelling = next((spelling for spelling in spellings if spelling), None)
    return spelling.upper() if spelling else None
