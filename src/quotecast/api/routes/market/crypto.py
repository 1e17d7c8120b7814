"""Quotes and names of crypto pairs."""

from typing import Annotated, Final

from litestar import Router, get
from litestar.params import PathParameter
from msgspec import Struct

from quotecast.api.answers.answers import Answer, all_quotes_json, names_answer, symbols_body
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
from quotecast.api.bars.handlers import crypto_bars
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
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote

Pair = Annotated[
    str, PathParameter(description="The pair in any case: `BTC%2FUSDT`, `BTC/USDT` or `BTC-USDT`")
]


class CryptoSymbol(Struct, frozen=True):
    """A pair: `symbol` is its base asset, `quote` its quote asset."""

    ticker: str
    symbol: str
    name: str
    quote: str
    exchange: str
    provider: str

    @classmethod
    def of(cls, quote: CryptoQuote) -> "CryptoSymbol":
        """Returns the pair of a quote."""
        priced_in = quote.ticker.partition("/")[2]
        return cls(quote.ticker, quote.symbol, quote.name, priced_in, quote.exchange, quote.provider)


@get(
    "/quotes",
    operation_id="getCryptoQuotes",
    summary="Quotes of all pairs",
    operation_class=QuotesReading,
    responses=answered(
        dict[str, CryptoQuote], examples.by_key(examples.CRYPTO), "Quotes by pair", 422, 429, 503
    ),
    opt={"symbols": "query"},
)
@repeatable
async def quotes(
    services: MarketServices,
    *,
    limit: PageLimit = None,
    after: After = None,
    at: At = None,
    form: Format = "json",
) -> Answer:
    """Changes are over the last 24 hours.

    With `limit` or `after` the answer is a page of all pairs in their order.
    """
    page = SymbolPage(limit, after)
    mirror, now = await mirror_at(services, Feed.CRYPTO, at), services.monotonic()
    answer = page.answer(mirror, now) if page else lasting_answer(mirror, now, all_quotes_json)
    return await formatted_apart(answer, form, QUOTES[Feed.CRYPTO])


@get(
    "/quotes/{symbol:path}",
    sync_to_thread=False,
    operation_id="getCryptoQuote",
    summary="Quote of one pair",
    operation_class=FeedReading,
    responses=answered(CryptoQuote, examples.CRYPTO, "The quote", 404, 422, 429, 503),
    opt={"symbols": "path"},
)
@repeatable
def quote(services: MarketServices, symbol: Pair, form: Format = "json") -> Answer:
    """The slash of the pair may be encoded, plain, or a dash."""
    return formatted(one_quote(services, Feed.CRYPTO, symbol_of_path(symbol)), form, QUOTE[Feed.CRYPTO])


@get(
    "/symbols",
    sync_to_thread=False,
    operation_id="listCryptoSymbols",
    summary="All pairs",
    operation_class=FeedReading,
    responses=answered(
        list[CryptoSymbol],
        [CryptoSymbol.of(examples.CRYPTO)],
        "The pairs in alphabetical order",
        429,
        503,
    ),
    opt={"symbols": "list"},
)
@repeatable
def symbols(services: MarketServices) -> Answer:
    """Lists the pairs in alphabetical order."""
    mirror = require_mirror(services, Feed.CRYPTO)
    return names_answer(mirror, services.monotonic(), symbols_body(mirror, services.only, _symbols))


@get(
    "/bars/{symbol:path}",
    operation_id="getCryptoBars",
    summary="Bars of one pair",
    operation_class=BarsReading,
    responses=answered(list[Bar], examples.BARS, "Bars in ascending order", 404, 422, 429, 503),
    opt={"door": "bars", "symbols": "path"},
)
@repeatable
async def bars(
    services: Services,
    symbol: Pair,
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
    """Returns the newest `limit` bars, or all if there are fewer. Days, weeks and months are in UTC.

    Periods without trades have no bar. All bars come from the exchange of the pair's quote. The last bar's
    close is the current price.

    With a `start`, or in the order `desc`, the answer is a page: `X-Next-Page` is the `page` of the next one;
    it is absent on the last page. A page may have fewer bars than `limit`.
    """
    paging = Paging(start, end, limit, order, page, source)
    answer = await crypto_bars(services, symbol_of_path(symbol), timeframe_of(timeframe, interval), paging)
    return await formatted_apart(answer, form, BARS)


@get(
    "/bars",
    operation_id="getCryptoBarsBatch",
    summary="Bars of several pairs",
    operation_class=BatchBarsReading,
    responses=answered(
        dict[str, list[Bar]], {"BTC/USDT": plain(examples.BARS)}, "Bars by pair", 422, 429, 503
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
    """Takes the parameters of the bars of one pair. All pairs of a page end at the same time.

    Omits unknown pairs; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.
    """
    names = named_symbols(symbols, MAX_BATCH)
    paging = batch_paging(names, Paging(start, end, limit, order, page, source))
    query, own_only = paging.query(timeframe_of(timeframe, interval)), paging.own_only()
    answer = await batch_answer(services, Feed.CRYPTO, names, lambda _: query, own_only=own_only)
    return await formatted_apart(answer, form, BARS_BY_SYMBOL)


@get(
    "/sparklines",
    operation_id="getCryptoSparklines",
    summary="Sparklines of several pairs",
    operation_class=SparklinesReading,
    responses=answered(
        dict[str, Sparkline], {"BTC/USDT": plain(examples.SPARKLINE)}, "Sparklines by pair", 422, 429, 503
    ),
    opt={"door": "bars", "symbols": "query"},
)
@repeatable
async def sparklines(services: Services, symbols: SparklineSymbols) -> Answer:
    """Closes of each half hour of the last 24 hours, made from the service's own quotes.

    Omits unknown pairs; `X-Missing-Count` counts them and `X-Missing-Symbols` names them.
    """
    return await sparklines_answer(services, Feed.CRYPTO, symbols)


def _symbols(mirror: Mirror, keys: frozenset[str] | None) -> bytes:
    known = [quote for key, quote in sorted(mirror.quotes().items()) if keys is None or key in keys]
    return codec.encode_json([CryptoSymbol.of(quote) for quote in known if isinstance(quote, CryptoQuote)])


#: The routes that read the feed only.
FEED_HANDLERS: Final = [quotes, quote, symbols]

ROUTER: Final = Router(
    "/api/crypto",
    route_handlers=[quotes, quote, batch, bars, sparklines, symbols],
    tags=["Crypto"],
    opt={
        "tag": "Pairs of crypto assets: quotes and bars; changes are over the last 24 hours.",
        "feed": Feed.CRYPTO,
        "limit": "crypto",
    },
)
