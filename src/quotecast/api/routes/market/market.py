"""Stock quotes, and the state of the market and its feeds."""

from collections.abc import Sequence
from typing import Annotated, Final

from litestar import Router, get
from litestar.params import PathParameter, QueryParameter

from quotecast.api.answers.answers import (
    CACHE_LISTS,
    CACHE_QUOTES,
    Answer,
    SharedBody,
    all_quotes_json,
    content_tag,
    document_answer,
    quotes_answer,
    while_unchanged,
)
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
from quotecast.api.bars.handlers import stock_bars
from quotecast.api.bars.market import Market
from quotecast.api.bars.parameters import (
    Count,
    End,
    Ordered,
    PageToken,
    Paging,
    Session,
    Source,
    Span,
    Start,
    StockInterval,
    StockQuery,
    StockTimeframe,
    one_length,
)
from quotecast.api.bars.queries import BarQuery
from quotecast.api.bars.sparklines import Sparkline, SparklineSymbols, sparklines_answer
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.parameters import number_of, number_parameter
from quotecast.api.market.past import At
from quotecast.api.market.selection import (
    AS_OPTIONAL_TEXT,
    MAX_SYMBOLS,
    missing_headers,
    renamed_headers,
    require_symbols,
    selection_of,
    symbol_of_path,
)
from quotecast.api.market.services import MarketServices, Services, mirror_at, require_items
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import (
    BatchBarsReading,
    BatchQuotesReading,
    PageReading,
    Reading,
    SparklinesReading,
    StockBarsReading,
    SymbolReading,
    answered,
)
from quotecast.api.routes.as_of import AsOf, view_as_of
from quotecast.api.routes.market.actions import BarAdjustment, actions, adjusted_bars
from quotecast.api.routes.market.news import news
from quotecast.api.routes.market.overviews import heatmap, movers
from quotecast.api.routes.market.status import EXAMPLE, MarketStatus, market_status
from quotecast.api.routes.market.symbol_pages import After, PageLimit, SymbolPage, one_quote
from quotecast.errors import InvalidValue
from quotecast.market import codec
from quotecast.market.assets import Asset, index_assets, search_assets
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote

Symbols = Annotated[
    list[str] | None,
    QueryParameter(
        description=(
            f"Comma-separated tickers in any case, at most {MAX_SYMBOLS}; may be repeated. `all` alone is "
            "every stock; in a longer list it is a ticker. A page needs none"
        ),
        schema_extra=AS_OPTIONAL_TEXT,
    ),
]

# A path parameter, so that a name with a slash is an unknown symbol instead of an unknown route.
Symbol = Annotated[str, PathParameter(description="The ticker, in any case")]

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
    "/quotes",
    operation_id="getQuotes",
    summary="Quotes of several stocks, or of all",
    operation_class=BatchQuotesReading,
    responses=answered(
        dict[str, StockQuote], examples.by_key(examples.STOCK), "Quotes by ticker", 422, 429, 503
    ),
    opt={"symbols": "query"},
)
@repeatable
async def quotes(
    services: MarketServices,
    symbols: Symbols = None,
    *,
    limit: PageLimit = None,
    after: After = None,
    at: At = None,
    form: Format = "json",
) -> Answer:
    """Omits unknown symbols; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.

    With `limit` or `after` the answer is a page of all stocks in the order of tickers.
    """
    page = SymbolPage(limit, after)
    wanted = "all" if page and symbols is None else selection_of(require_symbols(symbols))
    if page and wanted != "all":
        raise InvalidValue("symbols", "Paging covers all symbols: omit `symbols` or send `all`")
    mirror, now = await mirror_at(services, Feed.STOCKS, at), services.monotonic()
    if page:
        answer = page.answer(mirror, now, *missing_headers([]))
        return await formatted_apart(answer, form, QUOTES[Feed.STOCKS])
    if wanted == "all":
        everything = lasting_answer(mirror, now, all_quotes_json, missing_headers([]))
        return await formatted_apart(everything, form, QUOTES[Feed.STOCKS])
    found = mirror.entries_named(wanted)
    # Two names may mean one stock.
    entries = {entry.key: entry for entry in found.values() if entry}
    body = codec.object_json([(key, entry.full_json()) for key, entry in entries.items()])
    # Most names are keys, and known.
    others = {name: found[name] for name in wanted if name not in entries}
    missing = [name for name, entry in others.items() if not entry]
    named = ((name, entry.key) for name, entry in others.items() if entry)
    notes = [*missing_headers(missing), *renamed_headers(mirror, named)]
    answer = quotes_answer(mirror, now, SharedBody(body), *notes)
    return formatted(while_unchanged(answer, mirror, services.monotonic), form, QUOTES[Feed.STOCKS])


@get(
    "/quotes/{symbol:path}",
    sync_to_thread=False,
    operation_id="getQuote",
    summary="Quote of one stock",
    operation_class=SymbolReading,
    responses=answered(StockQuote, examples.STOCK, "The quote", 404, 422, 429, 503),
    opt={"symbols": "path"},
)
@repeatable
def quote(services: MarketServices, symbol: Symbol, form: Format = "json") -> Answer:
    """Returns one quote; the ticker may be in any letter case."""
    return formatted(one_quote(services, Feed.STOCKS, symbol_of_path(symbol)), form, QUOTE[Feed.STOCKS])


@get(
    "/bars/{symbol:path}",
    operation_id="getBars",
    summary="Bars of one stock",
    operation_class=StockBarsReading,
    responses=answered(list[Bar], examples.BARS, "Bars in ascending order", 404, 422, 429, 503),
    opt={"door": "bars", "symbols": "path"},
)
@repeatable
async def bars(
    services: Services,
    symbol: Symbol,
    *,
    span: Span = None,
    interval: StockInterval = None,
    timeframe: StockTimeframe = None,
    start: Start = None,
    end: End = None,
    limit: Count = None,
    order: Ordered = None,
    page: PageToken = None,
    source: Source = None,
    session: Session = None,
    adjustment: BarAdjustment = "splits",
    as_of: AsOf = None,
    form: Format = "json",
) -> Answer:
    """`1D` is the latest session and `5D` the last five; longer ranges begin with a session.

    `1m` bars reach back one month (`1M`), `5m` six months, `15m` one year; hours have no limit. Periods
    without trades have no bar. `D`, `W` and `M` start at midnight in New York of their first session. The
    last bar's close is the current price.

    With any of `start`, `end`, `limit` and `order` the answer is a page of at most `limit` bars, 500 by
    default; `limit` alone has the newest ones. `X-Next-Page` is the `page` of the next one; it is absent on
    the last page. A page may have fewer bars than `limit`. With a `start` the default interval is `D`.

    `session=extended` adds the hours from 4:00 to 9:30 and from 16:00 to 20:00 to bars of at most 15 minutes,
    if the upstream has them: `X-Session` says so.

    Bars are adjusted for splits; `adjustment` asks for others, by the stock's corporate actions. With `as_of`
    the answer has the days as the service had read them by then.
    """
    services = view_as_of(services, as_of)
    paging = Paging(start, end, limit, order, page, source)
    query = StockQuery.of(span, one_length(interval, timeframe), paging, session)
    ticker = symbol_of_path(symbol)
    answer = await stock_bars(services, ticker, query)
    if adjustment != "splits":
        answer = await adjusted_bars(services, ticker, query, answer, adjustment)
    mirror = services.mirrors[Feed.STOCKS]
    answer.add_headers(*renamed_headers(mirror, mirror.keys_named([ticker]).items()))
    return await formatted_apart(answer, form, BARS)


@get(
    "/bars",
    operation_id="getBarsBatch",
    summary="Bars of several stocks",
    operation_class=BatchBarsReading,
    responses=answered(dict[str, list[Bar]], {"AAPL": examples.BARS}, "Bars by ticker", 422, 429, 503),
    opt={"door": "bars", "symbols": "query"},
)
@repeatable
async def batch(
    services: Services,
    *,
    symbols: BatchSymbols,
    span: Span = None,
    interval: StockInterval = None,
    timeframe: StockTimeframe = None,
    start: Start = None,
    end: End = None,
    limit: BatchCount = None,
    order: Ordered = None,
    page: PageToken = None,
    source: Source = None,
    as_of: AsOf = None,
    form: Format = "json",
) -> Answer:
    """Takes the parameters of the bars of one stock. All tickers of a page end at the same time.

    Omits unknown tickers; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.
    """
    services = view_as_of(services, as_of)
    names = named_symbols(symbols, MAX_BATCH)
    paging = batch_paging(names, Paging(start, end, limit, order, page, source))
    if span is None and limit is None and start is None:
        span = "1D"  # the default limit is not a wish for the newest bars
    wanted = StockQuery.of(span, one_length(interval, timeframe), paging)

    def query_for(market: Market) -> BarQuery:
        return wanted.query_for(market.calendar, market.moment)

    answer = await batch_answer(services, Feed.STOCKS, names, query_for, own_only=wanted.own_only)
    return await formatted_apart(answer, form, BARS_BY_SYMBOL)


@get(
    "/sparklines",
    operation_id="getSparklines",
    summary="Sparklines of several stocks",
    operation_class=SparklinesReading,
    responses=answered(
        dict[str, Sparkline], {"AAPL": examples.SPARKLINE}, "Sparklines by ticker", 422, 429, 503
    ),
    opt={"door": "bars", "symbols": "query"},
)
@repeatable
async def sparklines(services: Services, symbols: SparklineSymbols) -> Answer:
    """Closes of each quarter of an hour of the latest session, made from the service's own quotes.

    Omits unknown tickers; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.
    """
    return await sparklines_answer(services, Feed.STOCKS, symbols)


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
        body = SharedBody(codec.encode_json(found[offset:][:most]))
    return document_answer(body, CACHE_LISTS, (b"x-total-count", b"%d" % len(found)))


def all_assets(assets: Sequence[Asset]) -> SharedBody:
    """Returns the body that lists every asset."""
    return SharedBody(codec.encode_json(assets))


@get(
    "/status",
    sync_to_thread=False,
    operation_id="getMarketStatus",
    summary="State of the market and of the feeds",
    operation_class=Reading,
    responses=answered(MarketStatus, EXAMPLE, "The state", 429),
    opt={"symbols": "nowhere"},
)
@repeatable
def status(services: MarketServices) -> Answer:
    """Reads this worker's own copy of the feeds, without a call to an upstream.

    `running` means that every configured feed is live, `down` that none has data.
    """
    state = market_status(services)
    body = codec.encode_json(state)
    return document_answer(
        SharedBody(body), CACHE_QUOTES, tag=content_tag(codec.encode_json(state.lasting()))
    )


#: The routes that read the feed only.
FEED_HANDLERS: Final = [quotes, quote, heatmap, movers, news, assets, status]

ROUTER: Final = Router(
    "/api/market",
    route_handlers=[quotes, quote, batch, bars, sparklines, actions, heatmap, movers, news, assets, status],
    tags=["Market"],
    opt={
        "tag": "US stocks: quotes, bars, overviews, news, and the state of the feeds.",
        "feed": Feed.STOCKS,
        "limit": "market",
    },
)
