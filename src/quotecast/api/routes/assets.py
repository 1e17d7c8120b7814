"""The stocks that can be traded."""

from collections.abc import Sequence
from typing import Annotated, Final

from litestar import get
from litestar.params import QueryParameter

from quotecast.api.answers import CACHE_LISTS, JSON, Answer, Document
from quotecast.api.edge.repeats import repeatable
from quotecast.api.parts import HttpRequest, Parts, items_of
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import PageReading, answered
from quotecast.feed.documents import Copy
from quotecast.market.assets import Asset, index_assets, search_assets
from quotecast.market.codec import encode_json

MAX_SEARCH_LENGTH: Final = 100
MAX_ASSETS: Final = 10_000

Search = Annotated[
    str,
    QueryParameter(
        max_length=MAX_SEARCH_LENGTH,
        description="Beginning of a ticker, or any part of a name; letter case makes no difference",
    ),
]
Limit = Annotated[
    int | None, QueryParameter(ge=1, le=MAX_ASSETS, description="How many at most; all by default")
]
Offset = Annotated[int, QueryParameter(ge=0, description="How many to leave out at the beginning")]


@get(
    "/assets",
    sync_to_thread=False,
    summary="All stocks, or those that a search finds",
    operation_class=PageReading,
    responses=answered(list[Asset], [examples.ASSET], "Stocks in the order of tickers", 422, 429, 503),
)
def assets(request: HttpRequest, search: Search = "", limit: Limit = None, offset: Offset = 0) -> Answer:
    """Stocks found by their ticker come before those found by name; `X-Total-Count` counts all pages."""
    return repeatable(request, _assets, search, limit, offset)


def _assets(parts: Parts, search: str, limit: int | None, offset: int) -> Answer:
    copy = parts.documents.assets
    found = _found(copy, items_of(parts, copy), search)
    if found is copy.items and limit is None and offset == 0:
        body = copy.once("all", lambda: Document(encode_json(found)))
    else:
        body = Document(encode_json(found[offset:][:limit]))
    return _counted(body, len(found))


def _found(copy: Copy[Asset], everything: Sequence[Asset], search: str) -> Sequence[Asset]:
    if not search.strip():
        return everything
    return search_assets(copy.once("index", lambda: index_assets(everything)), search)


def _counted(body: Document, total: int) -> Answer:
    headers = [
        (b"content-type", JSON),
        (b"etag", body.tag),
        (b"cache-control", CACHE_LISTS),
        (b"x-total-count", b"%d" % total),
    ]
    return Answer(body, headers, tag=body.tag)
