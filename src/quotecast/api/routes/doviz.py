"""Turkish currency, gold and precious-metal quotes, by symbol and by category."""

from typing import Annotated, Any, Final

from litestar import Router, get
from litestar.params import PathParameter, QueryParameter
from msgspec import Struct

from quotecast.api.answers import Answer, all_quotes, names_answer, quotes_answer, quotes_json, shared_body
from quotecast.api.edge.repeats import repeatable
from quotecast.api.past import At
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import TAG, FeedReading, answered
from quotecast.api.routes.quotes import one_quote
from quotecast.api.selection import symbol_of_path
from quotecast.api.services import Services, mirror_at, require_mirror
from quotecast.errors import InvalidValue
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.feeds import Feed
from quotecast.market.instruments import CATEGORIES
from quotecast.market.quotes import DovizQuote

Category = Annotated[
    str | None,
    QueryParameter(description="Only this category", schema_extra={"enum": [*CATEGORIES]}),
]
Symbol = Annotated[str, PathParameter(description="The symbol, in any case")]


class DovizSymbol(Struct, frozen=True):
    """An instrument; `source` is the bank or market of its price."""

    symbol: str
    name: str
    unit: str
    source: str

    @classmethod
    def of(cls, quote: DovizQuote) -> "DovizSymbol":
        """Returns the instrument of a quote."""
        return cls(quote.symbol, quote.name, quote.unit, quote.source)


@get(
    "/quotes",
    summary="Quotes of everything, or of one category",
    operation_class=FeedReading,
    responses=answered(
        dict[str, DovizQuote], examples.by_key(examples.DOVIZ), "Quotes by symbol", 422, 429, 503
    ),
)
@repeatable
async def quotes(services: Services, category: Category = None, at: At = None) -> Answer:
    """Currencies, gold, silver, precious metals and the index."""
    wanted = None if category is None else category.strip().lower()
    mirror, now = await mirror_at(services, Feed.DOVIZ, at), services.monotonic()
    if wanted is None:
        return quotes_answer(mirror, now, all_quotes(mirror))
    if wanted not in CATEGORIES:
        raise InvalidValue("category", f"One of {', '.join(CATEGORIES)}")
    return quotes_answer(mirror, now, shared_body(mirror, _quotes_of, wanted))


@get(
    "/quotes/{symbol:path}",
    sync_to_thread=False,
    summary="Quote of one symbol",
    operation_class=FeedReading,
    responses=answered(DovizQuote, examples.DOVIZ, "The quote", 404, 429, 503),
)
@repeatable
def quote(services: Services, symbol: Symbol) -> Answer:
    """An ISO code (`USD`), a slug (`gram-altin`) or a bank's ticker (`akbank-USD`), in any case."""
    return one_quote(services, Feed.DOVIZ, symbol_of_path(symbol))


@get(
    "/symbols",
    sync_to_thread=False,
    summary="All symbols by category",
    operation_class=FeedReading,
    responses=answered(
        dict[str, list[DovizSymbol]],
        {category: [] for category in CATEGORIES} | {"gold": [DovizSymbol.of(examples.DOVIZ)]},
        "Every category, including empty ones",
        429,
        503,
    ),
)
@repeatable
def symbols(services: Services) -> Answer:
    """Lists all symbols, including those of single banks."""
    mirror = require_mirror(services, Feed.DOVIZ)
    return names_answer(mirror, services.monotonic(), shared_body(mirror, _symbols))


def _quotes_of(mirror: Mirror, category: str) -> bytes:
    return quotes_json(
        entry
        for entry in mirror.live()
        if isinstance(entry.quote, DovizQuote) and entry.quote.category == category
    )


def _symbols(mirror: Mirror) -> bytes:
    known: list[Any] = [quote for _, quote in sorted(mirror.quotes().items())]
    listing = {
        category: [DovizSymbol.of(quote) for quote in known if quote.category == category]
        for category in CATEGORIES
    }
    return codec.encode_json(listing)


ROUTER: Final = Router(
    "/api/doviz",
    route_handlers=[quotes, quote, symbols],
    tags=["Doviz"],
    opt={
        TAG: "Turkish currency, gold and precious-metal quotes, those of single banks among them.",
        "limit": "doviz",
    },
)
