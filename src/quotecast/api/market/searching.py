"""The index of the search: a worker builds it from its copies of the feeds, again when their names change."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from quotecast.errors import NoData, ProviderMissing
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.listings import (
    Listing,
    SearchResult,
    doviz_listings,
    identity,
    pair_listings,
    stock_listings,
)
from quotecast.market.quotes import Quote
from quotecast.market.renames import formers_of
from quotecast.market.search import Index, search, weight_of

#: The name of the search in errors, and of its rate limit.
GROUP: Final = "search"
#: Listings that are indexed at a time: less than a millisecond.
PIECE: Final = 50
#: Seconds after which the turnover that orders equal matches is read again.
REFRESH_SECONDS: Final = 900.0


class _Part:
    """The index of one feed, and the state of the feed that it shows."""

    def __init__(self, mirror: Mirror, assets: Callable[[], Sequence[Any] | None]) -> None:
        self.index: Index | None = None
        self._mirror = mirror
        self._assets = assets
        self._building = asyncio.Lock()
        self._built_at = 0.0
        self._revision = 0
        self._indexed_assets: Sequence[Any] | None = None
        self._indexed_renames: Mapping[str, str] = {}
        self._quotes: Mapping[str, Quote] = {}

    async def refresh(self, now: float) -> None:
        """Builds the index if there is none, or if it is out of date."""
        if self._is_current(now):
            return
        async with self._building:
            if not self._is_current(now):
                await self._build(now)

    def _is_current(self, now: float) -> bool:
        if self.index is None or now - self._built_at > REFRESH_SECONDS:
            return False
        if self._mirror.renames is not self._indexed_renames:
            return False
        return self._assets() is self._indexed_assets and not self._has_renamed()

    def _has_renamed(self) -> bool:
        """Returns whether a quote has come, gone or got another name. Most changes are of other fields."""
        mirror, since = self._mirror, self._revision
        revision = mirror.mark.revision
        if mirror.full_revision > since:
            changed = (entry for entry in mirror.changes_since(since) if entry.full_revision > since)
            if any(identity(each.quote) != identity(self._quotes.get(each.key)) for each in changed):
                return True
        self._revision = revision
        return False

    async def _build(self, now: float) -> None:
        """Builds in pieces: the event loop serves others in between."""
        quotes, assets, renames = self._mirror.quotes(), self._assets(), self._mirror.renames
        revision = self._mirror.mark.revision
        listings: list[Listing] = []
        for piece in _pieces(_listings(self._mirror.feed, quotes, assets or (), formers_of(renames))):
            listings += piece
            await asyncio.sleep(0)
        listings.sort(key=weight_of)
        index = Index()
        for piece in _pieces(listings):
            index.add(piece)
            await asyncio.sleep(0)
        index.finish()
        self.index, self._built_at = index, now
        self._revision, self._quotes = revision, quotes
        self._indexed_assets, self._indexed_renames = assets, renames


class Searches:
    """The indexes of all feeds, each built at the first search that needs it."""

    def __init__(self, mirrors: Mapping[Feed, Mirror], documents: Documents) -> None:
        copy = documents.assets
        self._parts = {
            feed: _Part(mirror, (lambda: copy.items) if feed is Feed.STOCKS else lambda: None)
            for feed, mirror in mirrors.items()
        }
        self._mirrors = mirrors
        self._documents = documents

    async def find(self, text: str, limit: int, feeds: Sequence[Feed], now: float) -> list[SearchResult]:
        """Returns the best matches in some feeds; `now` is in monotonic seconds.

        Raises ProviderMissing without feeds, NoData without data.
        """
        if not feeds:
            raise ProviderMissing(GROUP)
        indexes = await self.indexes(feeds, now)
        if not indexes:
            raise NoData(GROUP)
        return search(indexes, text, limit)

    async def indexes(self, feeds: Iterable[Feed], now: float) -> list[Index]:
        """Returns the current indexes of those feeds that have data; `now` is in monotonic seconds."""
        with_data = {feed for feed, mirror in self._mirrors.items() if mirror.loaded}
        if self._documents.assets.items is not None:
            with_data.add(Feed.STOCKS)
        parts = [self._parts[feed] for feed in feeds if feed in with_data]
        for part in parts:
            await part.refresh(now)
        return [part.index for part in parts if part.index]


def _listings(
    feed: Feed, quotes: Mapping[str, Any], assets: Sequence[Any], formers: Mapping[str, str]
) -> Iterator[Listing]:
    match feed:
        case Feed.STOCKS:
            return stock_listings(assets, quotes, formers)
        case Feed.CRYPTO:
            return pair_listings(quotes, formers)
        case Feed.DOVIZ:
            return doviz_listings(quotes)


def _pieces(listings: Iterable[Listing]) -> Iterator[list[Listing]]:
    rest = iter(listings)
    while piece := list(islice(rest, PIECE)):
        yield piece
