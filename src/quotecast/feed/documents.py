"""A worker's copies of the documents: what is known of news and assets, and what was made of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

import structlog

from quotecast.bus import wire
from quotecast.bus.base import ASSETS, NEWS, Document
from quotecast.errors import BusError
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.news import Article

T = TypeVar("T")
Made = TypeVar("Made")

log = structlog.get_logger()


class Copy(Generic[T]):
    """The last version of one document that could be read; `items` is None until there was one."""

    def __init__(self, feed: Feed, name: str, read: Callable[[bytes], Sequence[T]]) -> None:
        self.feed: Final = feed
        self.name: Final = name
        self.items: Sequence[T] | None = None
        #: Of the version that came last, whether it could be read or not.
        self.digest: str | None = None
        self._read = read
        self._made: dict[str, Any] = {}

    def take(self, document: Document) -> None:
        """Goes over to another version."""
        self.digest = document.digest
        try:
            self.items = self._read(document.content)
        except BusError as error:
            log.warning("document not understood", feed=self.feed, document=self.name, error=str(error))
        else:
            self._made.clear()

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` makes of the present items, made once and shared until they change."""
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made


class Documents:
    """All documents there are."""

    def __init__(self) -> None:
        self.news: Copy[Article] = Copy(Feed.STOCKS, NEWS, wire.decode_articles)
        self.assets: Copy[Asset] = Copy(Feed.STOCKS, ASSETS, wire.decode_assets)

    def __iter__(self) -> Iterator[Copy[Any]]:
        """Each of them."""
        return iter((self.news, self.assets))
