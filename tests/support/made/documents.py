"""News articles and assets for tests."""

from typing import Any

from quotecast.bus import wire
from quotecast.bus.base import ASSETS, NEWS, RENAMES, Document
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.news import Article
from quotecast.market.renames import Rename


def article(number: int = 1, **other: Any) -> Article:
    given: dict[str, Any] = {
        "id": str(number),
        "headline": f"Headline {number}",
        "summary": "",
        "author": "A. Writer",
        "source": "Test",
        "url": None,
        "images": [],
        "symbols": ["AAPL"],
        "created_at": "2026-11-20T15:00:00.000Z",
        "updated_at": "2026-11-20T15:00:00.000Z",
    }
    return Article(**(given | other))


def asset(ticker: str = "AAPL", name: str = "Apple Inc.") -> Asset:
    return Asset(ticker=ticker, name=name, exchange="NASDAQ", sector="Technology", industry="Phones")


def news_of(*articles: Article) -> Document:
    return wire.encode_document(Feed.STOCKS, NEWS, articles)


def assets_of(*assets: Asset) -> Document:
    return wire.encode_document(Feed.STOCKS, ASSETS, assets)


def renames_of(*renames: Rename) -> Document:
    return wire.encode_document(Feed.STOCKS, RENAMES, renames)
