"""Turkish currency, gold and precious-metal quotes, by symbol and by category."""

from functools import partial
from typing import Annotated, Any, Final

from litestar import Router, get
from litestar.params import PathParameter, QueryParameter
from msgspec import Struct

from quotecast.api.answers.answers import Answer, all_quotes_json, names_answer, quotes_json, symbols_body
from quotecast.api.answers.csv import Format, formatted, formatted_apart
from quotecast.api.answers.lasting import lasting_answer
from quotecast.api.answers.tables import BARS, BARS_BY_SYMBOL, QUOTE, QUOTES
from quotecast.api.bars.batches import (
    MAX_BATCH,
    BatchCount,
    BatchSymbols,
    batch_answer,
    batch_paging,
    named_symbols,
)
from quotecast.api.bars.handlers import DovizBar, doviz_bars
from quotecast.api.bars.parameters import (
    AnyInterval,
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
from quotecast.api.bars.sparklines import Sparkline, SparklineSymbols, sparklines_answer
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.past import At
from quotecast.api.market.selection import symbol_of_path
from quotecast.api.market.services import MarketServices, Services, mirror_at, require_mirror
from quotecast.api.reference import examples
from quotecast.api.reference.examples import plain
from quotecast.api.reference.openapi import (
    BarsReading,
    BatchBarsReading,
    FeedReading,
    QuotesReading,
    SparklinesReading,
    answered,
)
from quotecast.api.routes.market.quotes import one_quote
from quotecast.api.routes.market.symbol_pages import After, PageLimit, SymbolPage
from quotecast.errors import InvalidValue
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.feeds import Feed
from quotecast.market.instruments import CATEGORIES
from quotecast.market.quotes import DovizQuote, Quote

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
    operation_id="getDovizQuotes",
    summary="Quotes of everything, or of one category",
    operation_class=QuotesReading,
    responses=answered(
        dict[str, DovizQuote], examples.by_key(examples.DOVIZ), "Quotes by symbol", 422, 429, 503
    ),
    opt={"symbols": "query"},
)
@repeatable
async def quotes(
    services: MarketServices,
    category: Category = None,
    *,
    limit: PageLimit = None,
    after: After = None,
    at: At = None,
    form: Format = "json",
) -> Answer:
    """Currencies, gold, silver, precious metals and the index.

    With `limit` or `after` the answer is a page of them in the order of symbols.
    """
    page = SymbolPage(limit, after)
    wanted = None if category is None else category.strip().lower()
    mirror, now = await mirror_at(services, Feed.DOVIZ, at), services.monotonic()
    if wanted is not None and wanted not in CATEGORIES:
        raise InvalidValue("category", f"Must be one of {', '.join(CATEGORIES)}")
    if page:
        answer = page.answer(mirror, now, wants=None if wanted is None else partial(_is_of, wanted))
    elif wanted is None:
        answer = lasting_answer(mirror, now, all_quotes_json)
    else:
        answer = lasting_answer(mirror, now, _quotes_of, (), wanted)
    return formatted(answer, form, QUOTES[Feed.DOVIZ])


@get(
    "/quotes/{symbol:path}",
    sync_to_thread=False,
    operation_id="getDovizQuote",
    summary="Quote of one symbol",
    operation_class=FeedReading,
    responses=answered(DovizQuote, examples.DOVIZ, "The quote", 404, 422, 429, 503),
    opt={"symbols": "path"},
)
@repeatable
def quote(services: MarketServices, symbol: Symbol, form: Format = "json") -> Answer:
    """An ISO code (`USD`), a slug (`gram-altin`) or a bank's ticker (`akbank-USD`), in any case."""
    return formatted(one_quote(services, Feed.DOVIZ, symbol_of_path(symbol)), form, QUOTE[Feed.DOVIZ])


@get(
    "/symbols",
    sync_to_thread=False,
    operation_id="listDovizSymbols",
    summary="All symbols by category",
    operation_class=FeedReading,
    responses=answered(
        dict[str, list[DovizSymbol]],
        {category: [] for category in CATEGORIES} | {"gold": [DovizSymbol.of(examples.DOVIZ)]},
        "Every category, including empty ones",
        429,
        503,
    ),
    opt={"symbols": "list"},
)
@repeatable
def symbols(services: MarketServices) -> Answer:
    """Lists all symbols, including those of single banks."""
    mirror = require_mirror(services, Feed.DOVIZ)
    return names_answer(mirror, services.monotonic(), symbols_body(mirror, services.only, _symbols))


@get(
    "/bars/{symbol:path}",
    operation_id="getDovizBars",
    summary="Bars of one symbol",
    operation_class=BarsReading,
    responses=answered(list[DovizBar], examples.DOVIZ_BARS, "Bars in ascending order", 404, 422, 429, 503),
    opt={"door": "bars", "symbols": "path"},
)
@repeatable
async def bars(
    services: Services,
    symbol: Symbol,
    *,
    timeframe: Timeframe = None,
    interval: AnyInterval = None,
    start: Start = None,
    end: End = None,
    limit: Count = None,
    order: Ordered = None,
    page: PageToken = None,
    source: Source = None,
    form: Format = "json",
) -> Answer:
    """Returns the newest `limit` bars, or all if there are fewer. Days, weeks and months are Istanbul's.

    The service makes these bars from its own quotes: they are of selling prices, begin when it first ran, and
    have no volume. Minutes without a change have no bar. The last bar's close is the current price.

    With a `start`, or in the order `desc`, the answer is a page: `X-Next-Page` is the `page` of the next one;
    it is absent on the last page. A page may have fewer bars than `limit`.
    """
    paging = Paging(start, end, limit, order, page, source)
    answer = await doviz_bars(services, symbol_of_path(symbol), timeframe_of(timeframe, interval), paging)
    return await formatted_apart(answer, form, BARS)


@get(
    "/bars",
    operation_id="getDovizBarsBatch",
    summary="Bars of several symbols",
    operation_class=BatchBarsReading,
    responses=answered(
        dict[str, list[DovizBar]], {"gram-altin": plain(examples.DOVIZ_BARS)}, "Bars by symbol", 422, 429, 503
    ),
    opt={"door": "bars", "symbols": "query"},
)
@repeatable
async def batch(
    services: Services,
    *,
    symbols: BatchSymbols,
    timeframe: Timeframe = None,
    interval: AnyInterval = None,
    start: Start = None,
    end: End = None,
    limit: BatchCount = None,
    order: Ordered = None,
    page: PageToken = None,
    source: Source = None,
    form: Format = "json",
) -> Answer:
    """Takes the parameters of the bars of one symbol. All symbols of a page end at the same time.

    Omits unknown symbols; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.
    """
    names = named_symbols(symbols, MAX_BATCH)
    paging = batch_paging(names, Paging(start, end, limit, order, page, source))
    query, own_only = paging.query(timeframe_of(timeframe, interval)), paging.own_only()
    answer = await batch_answer(services, Feed.DOVIZ, names, lambda _: query, own_only=own_only)
    return await formatted_apart(answer, form, BARS_BY_SYMBOL)


@get(
    "/sparklines",
    operation_id="getDovizSparklines",
    summary="Sparklines of several symbols",
    operation_class=SparklinesReading,
    responses=answered(
        dict[str, Sparkline], {"gram-altin": plain(examples.SPARKLINE)}, "Sparklines by symbol", 422, 429, 503
    ),
    opt={"door": "bars", "symbols": "query"},
)
@repeatable
async def sparklines(services: Services, symbols: SparklineSymbols) -> Answer:
    """Closes of each half hour of the last 24 hours, made from the service's own quotes.

    Omits unknown symbols; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.
    """
    return await sparklines_answer(services, Feed.DOVIZ, symbols)


def _quotes_of(mirror: Mirror, category: str) -> bytes:
    return quotes_json(entry for entry in mirror.live() if entry.quote and _is_of(category, entry.quote))


def _is_of(category: str, quote: Quote) -> bool:
    return isinstance(quote, DovizQuote) and quote.category == category


def _symbols(mirror: Mirror, keys: frozenset[str] | None) -> bytes:
    quotes = sorted(mirror.quotes().items())
    known: list[Any] = [quote for key, quote in quotes if keys is None or key in keys]
    listing = {
        category: [DovizSymbol.of(quote) for quote in known if quote.category == category]
        for category in CATEGORIES
    }
    return codec.encode_json(listing)


#: The routes that read the feed only.
FEED_HANDLERS: Final = [quotes, quote, symbols]

ROUTER: Final = Router(
    "/api/doviz",
    route_handlers=[quotes, quote, batch, bars, sparklines, symbols],
    tags=["Doviz"],
    opt={
        "tag": "Turkish currency, gold and precious-metal quotes, those of single banks among them.",
        "feed": Feed.DOVIZ,
        "limit": "doviz",
    },
)
