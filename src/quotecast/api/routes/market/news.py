"""Market news."""

from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Final

from litestar import get
from litestar.params import QueryParameter

from quotecast.api.answers.answers import Answer, SharedBody, cached_for, document_answer
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.selection import AS_OPTIONAL_TEXT, MAX_SYMBOLS, selection_of
from quotecast.api.market.services import MarketServices, require_items
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import Reading, answered
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.market.news import Article

CACHE_NEWS: Final = cached_for(30)
MAX_ARTICLES: Final = 50

Symbols = Annotated[
    list[str] | None,
    QueryParameter(
        description=(
            f"Only articles about any of these: comma-separated tickers, at most {MAX_SYMBOLS}; may be "
            "repeated. `all` alone is all articles; in a longer list it is a ticker"
        ),
        schema_extra=AS_OPTIONAL_TEXT,
    ),
]
Limit = Annotated[int, QueryParameter(ge=1, le=MAX_ARTICLES, description="How many articles at most")]


@get(
    "/news",
    sync_to_thread=False,
    operation_id="listNews",
    summary="The newest articles",
    operation_class=Reading,
    responses=answered(list[Article], [examples.ARTICLE], "Articles, the newest first", 422, 429, 503),
)
@repeatable
def news(services: MarketServices, symbols: Symbols = None, limit: Limit = 30) -> Answer:
    """Lists articles; texts contain no HTML, URLs are http or https."""
    return news_answer(services, symbols, limit)


def news_answer(services: MarketServices, symbols: Sequence[str] | None, limit: int) -> Answer:
    """Returns the newest articles. Raises InvalidValue, ProviderMissing or NoData."""
    wanted = "all" if symbols is None else selection_of(symbols)
    copy = services.documents.news
    articles = require_items(services, copy)
    if wanted == "all":
        body = copy.derive(newest_articles, limit)
    else:
        # Articles have the symbols of their day.
        present = services.mirrors[Feed.STOCKS].keys_named(wanted).values()
        about = frozenset([*wanted, *present])
        found = (each for each in articles if not about.isdisjoint(each.symbols))
        body = SharedBody(encode_json(list(islice(found, limit))))
    return document_answer(body, CACHE_NEWS)


def newest_articles(articles: Sequence[Article], limit: int) -> SharedBody:
    """Returns the body that lists the first `limit` articles; they come newest first."""
    return SharedBody(encode_json(articles[:limit]))
