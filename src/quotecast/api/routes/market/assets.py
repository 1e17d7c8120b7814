"""The stocks that can be traded."""

from collections.abc import Sequence
from typing import Annotated, Final

from litestar import get
from litestar.params import QueryParameter

from quotecast.api.answers.answers import CACHE_LISTS, Answer, SharedBody, document_answer
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.parameters import number_of, number_parameter
from quotecast.api.market.services import MarketServices, require_items
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import PageReading, answered
from quotecast.market.assets import Asset, index_assets, search_assets
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed

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
    str | None,
    number_parameter("limit", "How many at most; all by default", minimum=1, maximum=MAX_ASSETS),
]
Offset = Annotated[int, QueryParameter(ge=0, description="How many to skip at the beginning")]


@get(
    "/assets",
    sync_to_thread=False,
    operation_id="listAssets",
    summary="All stocks, or the matches of a search",
    opt={"symbols": "list"},
    operation_class=PageReading,
    responses=answered(list[Asset], [examples.ASSET], "Stocks in the order of tickers", 422, 429, 503),
)
@repeatable
def assets(services: MarketServices, search: Search = "", limit: Limit = None, offset: Offset = 0) -> Answer:
    """Matches by ticker come before matches by name. `X-Total-Count` counts the matches of all pages."""
    most = number_of("limit", limit, 1, MAX_ASSETS)
    copy = services.documents.assets
    everything = require_items(services, copy)
    found = search_assets(copy.derive(index_assets), search) if search.strip() else everything
    if services.only:
        scope = services.mirrors[Feed.STOCKS].scope_of(services.only)
        found = [asset for asset in found if asset.ticker in scope]
    if found is copy.items and most is None and offset == 0:
        body = copy.derive(all_assets)
    else:
        body = SharedBody(encode_json(found[offset:][:most]))
    return document_answer(body, CACHE_LISTS, (b"x-total-count", b"%d" % len(found)))


def all_assets(assets: Sequence[Asset]) -> SharedBody:
    """Returns the body that lists every asset."""
    return SharedBody(encode_json(assets))
