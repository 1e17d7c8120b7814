"""A worker's copies of the documents news, assets and renames, and the views derived from them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar

import structlog

from quotecast.bus import wire
from quotecast.bus.base import ASSETS, NEWS, RENAMES, Document
from quotecast.errors import BusError
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.news import Article
from quotecast.market.renames import Rename

P = ParamSpec("P")
T = TypeVar("T")
Derived = TypeVar("Derived")

log = structlog.get_logger()


class Copy(Generic[T]):
    """The last readable version of one document; `items` is None before the first."""

    def __init__(self, feed: Feed, name: str, read: Callable[[bytes], Sequence[T]]) -> None:
        self.feed: Final = feed
        self.name: Final = name
        self.items: Sequence[T] | None = None
        #: Digest of the last version, readable or not.
        self.digest: str | None = None
        self._read = read
        self._derived: dict[tuple[Callable[..., Any], tuple[Any, ...]], Any] = {}

    def take(self, document: Document) -> None:
        """Replaces the items by those of a newer version; keeps the old ones if it is unreadable."""
        self.digest = document.digest
        try:
            self.items = self._read(document.content)
        except BusError as error:
            log.warning("could not decode document", feed=self.feed, document=self.name, error=str(error))
        else:
            self._derived.clear()

    def derive(
        self, view: Callable[Concatenate[Sequence[T], P], Derived], *args: P.args, **constants: P.kwargs
    ) -> Derived:
        """Returns `view(items, *args)`, computed at most once until the items change.

        `Mirror.derive` says what a view may be. Before the first version, the items are an empty list.
        """
        key = view, args
        if key not in self._derived:
            self._derived[key] = view(self.items or (), *args, **constants)
        derived: Derived = self._derived[key]
        return derived


class Documents:
    """The copies of all documents."""

    def __init__(self) -> None:
        self.news: Copy[Article] = Copy(Feed.STOCKS, NEWS, wire.decode_articles)
        self.assets: Copy[Asset] = Copy(Feed.STOCKS, ASSETS, wire.decode_assets)
        self.renames: Copy[Rename] = Copy(Feed.STOCKS, RENAMES, wire.decode_renames)

    def __iter__(self) -> Iterator[Copy[Any]]:
        """Yields each copy."""
        return iter((self.news, self.assets, self.renames))
