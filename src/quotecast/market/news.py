"""News articles as the API answers them; field names are those of Alpaca's news."""

from collections.abc import Sequence

from msgspec import Struct


class NewsImage(Struct, frozen=True):
    """A picture; `size` is thumb, small or large."""

    size: str
    url: str


class Article(Struct, frozen=True, kw_only=True):
    """A news article: text without HTML, http(s) URLs only, times ISO 8601 UTC, symbols as tickers."""

    id: str
    headline: str
    summary: str
    author: str
    source: str
    url: str | None
    images: Sequence[NewsImage]
    symbols: Sequence[str]
    created_at: str
    updated_at: str
