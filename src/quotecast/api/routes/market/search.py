"""The search over all feeds."""

from typing import Annotated, Final

from litestar import Router, get
from litestar.params import QueryParameter

from quotecast.api.answers.answers import Answer, SharedBody, cached_for, feed_answer
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.searching import GROUP
from quotecast.api.market.services import MarketServices, combined_state
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import FeedReading, answered
from quotecast.api.route_table import EVERY
from quotecast.market.codec import encode_json
from quotecast.market.listings import SearchResult

MAX_LENGTH: Final = 64
MAX_RESULTS: Final = 50
#: Names change rarely, the order of equal matches with the day's turnover.
_CACHE: Final = cached_for(60)

Text = Annotated[
    str,
    QueryParameter(
        max_length=MAX_LENGTH,
        pattern=r"\S",
        description=(
            "Symbol, name or alias, or the beginnings of some words in any order: `btcusdt`, `altin`, "
            "`is bankasi dolar`, `quarter gold`. Letter case, accents, Turkish letters and punctuation make "
            "no difference"
        ),
    ),
]
Limit = Annotated[int, QueryParameter(ge=1, le=MAX_RESULTS, description="How many at most")]


@get(
    "/",
    operation_id="searchSymbols",
    summary="Search stocks, pairs, currencies and metals",
    operation_class=FeedReading,
    responses=answered(list[SearchResult], examples.SEARCH_RESULTS, "The best matches first", 422, 429, 503),
)
@repeatable
async def search(services: MarketServices, q: Text, limit: Limit = 10) -> Answer:
    """Exact symbols come first, then beginnings of symbols, words of names and aliases, parts of words.

    Among equal matches, well-known instruments come first, then those with more turnover; those of banks come
    last. If nothing matches, longer words may have one typing mistake each. A feed without data is left out;
    `X-Feed-State` is `live` if every feed is.
    """
    feeds = services.configured()
    found = await services.searches.find(q, limit, feeds, services.monotonic())
    return feed_answer(SharedBody(encode_json(found)), combined_state(services, feeds), _CACHE)


ROUTER: Final = Router(
    "/api/search",
    route_handlers=[search],
    tags=["Search"],
    opt={"tag": "One search over the symbols of all feeds.", "feed": EVERY, "limit": GROUP},
)
