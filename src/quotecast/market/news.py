"""News articles, cleaned of HTML; the field names are those of Alpaca's news."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Final

import nh3
from msgspec import Struct
from msgspec.structs import replace

#: Characters of one text that an article keeps.
MAX_LENGTH: Final = 10_000

#: Elements whose text is not part of the article.
_UNSEEN: Final = {"script", "style"}
_BLOCKS: Final = "article|blockquote|br|div|dd|dl|dt|h[1-6]|hr|li|ol|p|pre|section|table|td|th|tr|ul"
#: Where words end: nh3 removes a tag without a trace.
_BREAK: Final = re.compile(rf"(</?(?:{_BLOCKS}|{'|'.join(sorted(_UNSEEN))})\b|<!--)", re.IGNORECASE)
#: Without one of these a text has no HTML, and is what the parser would make of it.
_MARKUP: Final = re.compile(r"[<&\0\ufeff]")
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

    Many feeds escape twice, so it reads until nothing changes: no tag is left in the text, however it was
    written, and cleaning it again changes nothing. Only the first MAX_LENGTH characters are read.
    """
    html = html[:MAX_LENGTH]
    if not _MARKUP.search(html):
        return " ".join(html.split())
    text = _text(html)
    # Every round that changes anything shortens the text.
    while (further := _text(text)) != text:
        text = further
    return text


def web_url(url: str | None) -> str | None:
    """Returns the URL if it is one of http or https, else None."""
    return url if url and _WEB_URL.fullmatch(url) else None


def _text(html: str) -> str:
    text = nh3.clean(_BREAK.sub(r" \1", html), tags=set(), clean_content_tags=_UNSEEN)
    return " ".join(unescape(text).split())
