"""News articles, cleaned of HTML; the field names are those of Alpaca's news."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

#: Characters of one text that an article keeps.
MAX_LENGTH: Final = 10_000

_BLOCKS: Final = "article|blockquote|br|div|dd|dl|dt|h[1-6]|hr|li|ol|p|pre|section|table|td|th|tr|ul"
#: Scripts and styles with their content, and comments; an unclosed one extends to the end of the text.
_UNSEEN: Final = re.compile(
    r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL | re.IGNORECASE
)
_BLOCK: Final = re.compile(rf"</?(?:{_BLOCKS})\b[^<>]*>", re.IGNORECASE)
#: A tag ends with its bracket, before the next tag, or with the text.
_TAG: Final = re.compile(r"<[a-z/!?][^<>]*>?", re.IGNORECASE)
_NESTED_AMPERSAND: Final = re.compile(r"&(?:amp;)+", re.IGNORECASE)
_UNSAFE: Final = r"\x00-\x20\x7f\s\"<>\\"
_WEB_URL: Final = re.compile(rf"https?://[^/?#{_UNSAFE}][^{_UNSAFE}]*", re.IGNORECASE)


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


def clean_article(article: Article) -> Article:
    """Returns the article with plain text instead of HTML, and without URLs other than http and https."""
    return replace(
        article,
        headline=plain_text(article.headline),
        summary=plain_text(article.summary),
        author=plain_text(article.author),
        source=plain_text(article.source),
        url=web_url(article.url),
        images=[image for image in article.images if web_url(image.url)],
    )


def plain_text(html: str) -> str:
    """Returns the text of a piece of HTML, on one line.

    Text that a feed escaped several times is unescaped as often, so that no tag remains; a second call
    changes nothing. Reads only the first MAX_LENGTH characters.
    """
    text = _strip_tags(html[:MAX_LENGTH])
    # This ends: each round that changes the text also shortens it.
    while (further := _strip_tags(_unescape(text))) != text:
        text = further
    return text


def web_url(url: str | None) -> str | None:
    """Returns the URL if it is one of http or https, else None."""
    return url if url and _WEB_URL.fullmatch(url) else None


def _strip_tags(text: str) -> str:
    text = _BLOCK.sub(" ", _UNSEEN.sub(" ", text))
    return " ".join(_TAG.sub("", text).split())


def _unescape(text: str) -> str:
    return unescape(_NESTED_AMPERSAND.sub("&", text))
