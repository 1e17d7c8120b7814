"""Turkish currency, gold and precious-metal quotes, by symbol and by category."""

from typing import Annotated, Any, Final

from litestar import Router, get
from litestar.params import PathParameter, QueryParameter
from msgspec import Struct

from quotecast.api.answers import Answer, all_quotes, names_answer, quotes_answer, quotes_json, shared_body
from quotecast.api.edge.repeats import repeatable
from quotecast.api.past import At
from quotecast.api.reference import examples
from quotecast.api.reference.examples import plain
from quotecast.api.reference.openapi import (
    TAG,
    BarsReading,
    BatchBarsReading,
    FeedReading,
    SparklinesReading,
    answered,
)
from quotecast.api.routes.bar_batches import (
    MAX_BATCH,
    BatchCount,
    BatchSymbols,
    batch_answer,
    batch_paging,
    named_symbols,
)
from quotecast.api.routes.bar_parameters import (
    Count,
    End,
    Ordered,
    PageToken,
    Paging,
    Source,
    Start,
    Timeframe,
    timeframe_of,
)
from quotecast.api.routes.bars import DovizBar, doviz_bars
from quotecast.api.routes.quotes import one_quote
from quotecast.api.routes.sparklines import Sparkline, SparklineSymbols, sparklines_answer
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


@get(
    "/bars/{symbol:path}",
    summary="Bars of one symbol",
    operation_class=BarsReading,
    responses=answered(list[DovizBar], examples.DOVIZ_BARS, "Bars in ascending order", 404, 422, 429, 503),
)
@repeatable
async def bars(
    services: Services,
    symbol: Symbol,
    *,
    timeframe: Timeframe = "1h",
    start: Start = None,
    end: End = None,
    limit: Count = None,
    order: Ordered = None,
    page: PageToken = None,
    source: Source = None,
) -> Answer:
    """Returns the newest `limit` bars, or all if there are fewer. Days, weeks and months are Istanbul's.

    The service makes these bars from its own quotes: they are of selling prices, begin when it first ran, and
    have no volume. Minutes without a change have no bar. The last bar's close is the current price.

    With a `start`, or in the order `desc`, the answer is a page: `X-Next-Page` is the `page` of the next one;
    it is absent on the last page. A page may have fewer bars than `limit`.
    """
    paging = Paging(start, end, limit, order, page, source)
    return await doviz_bars(services, symbol_of_path(symbol), timeframe, paging)


@get(
    "/bars",
    summary="Bars of several symbols",
    operation_class=BatchBarsReading,
    responses=answered(
        dict[str, list[DovizBar]], {"gram-altin": plain(examples.DOVIZ_BARS)}, "Bars by symbol", 422, 429, 503
    ),
)
@repeatable
async def batch(
    services: Services,
    *,
    symbols: BatchSymbols,
    timeframe: Timeframe = "1h",
    start: Start = None,
    end: End = None,
    limit: BatchCount = None,
    order: Ordered = None,
    page: PageToken = None,
    source: Source = None,
) -> Answer:
    """Takes the parameters of the bars of one symbol. All symbols of a page end at the same time.

    Omits unknown symbols; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.
    """
    names = named_symbols(symbols, MAX_BATCH)
    paging = batch_paging(names, Paging(start, end, limit, order, page, source))
    query, own_only = paging.query(timeframe_of(timeframe)), paging.own_only()
    return await batch_answer(services, Feed.DOVIZ, names, lambda _: query, own_only=own_only)


@get(
    "/sparklines",
    summary="Sparklines of several symbols",
    operation_class=SparklinesReading,
    responses=answered(
        dict[str, Sparkline], {"gram-altin": plain(examples.SPARKLINE)}, "Sparklines by symbol", 422, 429, 503
    ),
)
@repeatable
async def sparklines(services: Services, symbols: SparklineSymbols) -> Answer:
    """Closes of each half hour of the last 24 hours, made from the service's own quotes.

    Omits unknown symbols; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.
    """
    return await sparklines_answer(services, Feed.DOVIZ, symbols)


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
    route_handlers=[quotes, quote, batch, bars, sparklines, symbols],
    tags=["Doviz"],
    opt={
        TAG: "Turkish currency, gold and precious-metal quotes, those of single banks among them.",
        "limit": "doviz",
    },
)
