"""Quotes of every feed: that of one symbol, and pages of all in the order of symbols."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Annotated, Final

from litestar.params import QueryParameter

from quotecast.api.answers.answers import (
    CACHE_QUOTES,
    Answer,
    SharedBody,
    content_tag,
    feed_headers,
    quote_answer,
)
from quotecast.api.market.parameters import number_of, number_parameter
from quotecast.api.market.selection import renamed_headers
from quotecast.api.market.services import MarketServices, require_mirror
from quotecast.asgi import Header
from quotecast.errors import InvalidValue, SymbolNotFound
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.feeds import Feed
from quotecast.market.instruments import MAX_SYMBOL_LENGTH
from quotecast.market.quotes import Quote

MAX_QUOTES: Final = 1000
DEFAULT_QUOTES: Final = 500
#: The header with the `after` of the next page.
NEXT: Final = b"x-next-after"

PageLimit = Annotated[
    str | None,
    number_parameter(
        "limit",
        f"Quotes of one page, {DEFAULT_QUOTES} by default; without it and `after` all in one answer",
        minimum=1,
        maximum=MAX_QUOTES,
    ),
]
After = Annotated[
    str | None,
    QueryParameter(
        description="Answers the page after this symbol, the `X-Next-After` of the last page",
        schema_extra={"maxLength": MAX_SYMBOL_LENGTH},
    ),
]


def one_quote(services: MarketServices, feed: Feed, symbol: str) -> Answer:
    """Returns the answer with one quote. Raises ProviderMissing, NoData or SymbolNotFound."""
    mirror = require_mirror(services, feed)
    entry = mirror.find(symbol)
    if entry is None:
        raise SymbolNotFound
    answer = quote_answer(mirror, services.monotonic(), entry)
    if symbol != entry.key:
        answer.add_headers(*renamed_headers(mirror, [(symbol, entry.key)]))
    return answer


class SymbolPage:
    """A page as a request asks for it; false if it asks for none. Raises InvalidValue."""

    def __init__(self, limit: str | None, after: str | None) -> None:
        if after is not None and len(after) > MAX_SYMBOL_LENGTH:
            raise InvalidValue("after", f"Must have at most {MAX_SYMBOL_LENGTH} characters")
        self._asked = limit is not None or after is not None
        self._limit = number_of("limit", limit, 1, MAX_QUOTES) or DEFAULT_QUOTES
        self._after = after or ""

    def __bool__(self) -> bool:
        return self._asked

    def answer(
        self, mirror: Mirror, now: float, *more: Header, wants: Callable[[Quote], bool] | None = None
    ) -> Answer:
        """Returns the quotes after a symbol, of those that are wanted.

        The tag is that of the content: a page stays the same while other symbols change. `now` is in seconds
        of the clock of the mirror's `heard_at`.
        """
        ordered = mirror.ordered()
        if wants is not None:
            ordered = [entry for entry in ordered if entry.quote and wants(entry.quote)]
        known = mirror.find(self._after)
        # A former symbol is not where the present one is.
        is_key = known and not mirror.renamed([(self._after, known.key)])
        after = known.key if known and is_key else self._after
        first = bisect_right(ordered, after, key=lambda entry: entry.key)
        entries = ordered[first : first + self._limit]
        following = entries[-1].key if first + self._limit < len(ordered) else ""
        body = SharedBody(codec.object_json((entry.key, entry.full_json()) for entry in entries))
        links: list[Header] = [(NEXT, following.encode())] if following else []
        tag = content_tag(body.body + following.encode())
        headers = feed_headers(tag, mirror.state(now), CACHE_QUOTES)
        return Answer(body, (*headers, *links, *more), tag=headers[0][1])
