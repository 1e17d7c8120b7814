"""Endpoints of bars and sparklines of a feed without trading sessions: pairs and Turkish prices."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from litestar import get
from litestar.handlers import HTTPRouteHandler
from litestar.params import PathParameter
from msgspec import Struct

from quotecast.api.answers.answers import Answer
from quotecast.api.answers.csv import Format, formatted_apart
from quotecast.api.answers.tables import BARS, BARS_BY_SYMBOL
from quotecast.api.bars.batches import (
    MAX_BATCH,
    BatchCount,
    BatchSymbols,
    batch_answer,
    batch_paging,
    named_symbols,
)
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
from quotecast.api.market.selection import renamed_headers, symbol_of_path
from quotecast.api.market.services import Services
from quotecast.api.reference.examples import SPARKLINE
from quotecast.api.reference.openapi import BarsReading, BatchBarsReading, SparklinesReading, answered
from quotecast.api.routes.as_of import AsOf, view_as_of
from quotecast.market.bars import Interval
from quotecast.market.feeds import Feed

Symbol = Annotated[
    str,
    PathParameter(
        description="The symbol, in any case; a pair is `BTC%2FUSDT`, `BTC/USDT` or `BTC-USDT`",
    ),
]


_PAGES: Final = (
    "With a `start`, or in the order `desc`, the answer is a page: `X-Next-Page` is the `page` of the next "
    "one; it is absent on the last page. A page may have fewer bars than `limit`."
)
_BATCH: Final = "Takes the parameters of the bars of one {one}. All {several} of a page end at the same time."
_CLOSES: Final = "Closes of each half hour of the last 24 hours, made from the service's own quotes."
_OMITS: Final = "Omits unknown {several}; `X-Missing-Count` counts them and `X-Missing-Symbols` names them."


class FeedBars(Struct, frozen=True, kw_only=True):
    """The part that differs between feeds: `read` answers the bars of one symbol."""

    feed: Feed
    #: The feed's name in the ids of operations, and the words for one of its symbols and for several.
    name: str
    one: str
    several: str
    read: Callable[[Services, str, Interval, Paging], Awaitable[Answer]]
    #: The types of an answer with the bars of one symbol, and of several.
    bars: Any
    bars_by_symbol: Any
    #: The symbol of the examples, and its bars.
    symbol: str
    example: Any
    #: How the bars are made.
    about: str


def bar_handlers(words: FeedBars) -> list[HTTPRouteHandler]:
    """Returns the handlers of the bars of several symbols, of one, and of sparklines."""
    omits = _OMITS.format(several=words.several)
    return [_batch_handler(words, omits), _bars_handler(words), _sparklines_handler(words, omits)]


def _bars_handler(words: FeedBars) -> HTTPRouteHandler:
    @get(
        "/bars/{symbol:path}",
        operation_id=f"get{words.name}Bars",
        summary=f"Bars of one {words.one}",
        description=f"{words.about}\n\n{_PAGES}",
        operation_class=BarsReading,
        responses=answered(words.bars, words.example, "Bars in ascending order", 404, 422, 429, 503),
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
        as_of: AsOf = None,
        form: Format = "json",
    ) -> Answer:
        services = view_as_of(services, as_of)
        paging = Paging(start, end, limit, order, page, source)
        ticker = symbol_of_path(symbol)
        answer = await words.read(services, ticker, timeframe_of(timeframe, interval), paging)
        mirror = services.mirrors[words.feed]
        answer.add_headers(*renamed_headers(mirror, mirror.keys_named([ticker]).items()))
        return await formatted_apart(answer, form, BARS)

    return bars


def _batch_handler(words: FeedBars, omits: str) -> HTTPRouteHandler:
    @get(
        "/bars",
        operation_id=f"get{words.name}BarsBatch",
        summary=f"Bars of several {words.several}",
        description=f"{_BATCH.format(one=words.one, several=words.several)}\n\n{omits}",
        operation_class=BatchBarsReading,
        responses=answered(
            words.bars_by_symbol,
            {words.symbol: words.example},
            f"Bars by {words.one}",
            *(422, 429, 503),
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
        as_of: AsOf = None,
        form: Format = "json",
    ) -> Answer:
        services = view_as_of(services, as_of)
        names = named_symbols(symbols, MAX_BATCH)
        paging = batch_paging(names, Paging(start, end, limit, order, page, source))
        query, own_only = paging.query(timeframe_of(timeframe, interval)), paging.own_only()
        answer = await batch_answer(services, words.feed, names, lambda _: query, own_only=own_only)
        return await formatted_apart(answer, form, BARS_BY_SYMBOL)

    return batch


def _sparklines_handler(words: FeedBars, omits: str) -> HTTPRouteHandler:
    @get(
        "/sparklines",
        operation_id=f"get{words.name}Sparklines",
        summary=f"Sparklines of several {words.several}",
        description=f"{_CLOSES}\n\n{omits}",
        operation_class=SparklinesReading,
        responses=answered(
            dict[str, Sparkline],
            {words.symbol: SPARKLINE},
            f"Sparklines by {words.one}",
            *(422, 429, 503),
        ),
        opt={"door": "bars", "symbols": "query"},
    )
    @repeatable
    async def sparklines(services: Services, symbols: SparklineSymbols) -> Answer:
        return await sparklines_answer(services, words.feed, symbols)

    return sparklines
