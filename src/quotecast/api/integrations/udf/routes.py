"""The routes of TradingView's UDF protocol."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import msgspec
from litestar import Response, Router, get
from litestar.openapi import ResponseSpec
from msgspec import Struct

from quotecast.api.answers.answers import (
    CACHE_LISTS,
    CACHE_QUOTES,
    Answer,
    SharedBody,
    cached_for,
    document_answer,
    feed_answer,
)
from quotecast.api.bars.market import bars_headers, market_of, source_headers, until_prices_move
from quotecast.api.integrations.udf import parameters
from quotecast.api.integrations.udf.history import EXAMPLE_BARS, ChartBars, HistoryQuery, read_history
from quotecast.api.integrations.udf.instruments import (
    EXAMPLE_FOUND,
    EXAMPLE_SYMBOL,
    TYPES,
    FoundSymbol,
    SymbolInfo,
    exchanges,
    find_instrument,
    find_symbols,
    symbol_info,
)
from quotecast.api.integrations.udf.marks import EXAMPLE_MARKS, Marks, marks_of
from quotecast.api.integrations.udf.quotes import EXAMPLE_QUOTES, ChartQuotes, chart_quote, names_of
from quotecast.api.integrations.udf.resolutions import RESOLUTIONS, resolutions_of
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.searching import GROUP
from quotecast.api.market.services import HttpRequest, Services, combined_state
from quotecast.api.middleware.problems import exception_handlers
from quotecast.api.reference.openapi import ID, FeedReading, HistoryReading, Reading, answered, described
from quotecast.api.route_table import EVERY
from quotecast.api.routes.market.news import CACHE_NEWS
from quotecast.errors import FieldProblem, InvalidValue, Problem
from quotecast.market.codec import encode_json

_TEXT: Final = b"text/plain; charset=utf-8"
_CACHE_SEARCH: Final = cached_for(60)
_NAMES: Final = {
    "stock": "Stocks", "crypto": "Crypto", "forex": "Forex", "commodity": "Metals", "index": "Indices",
}  # fmt: skip


class ChartProblem(Problem, frozen=True, kw_only=True):
    """An error: charts read `s` and `errmsg` and ignore the HTTP status."""

    s: Literal["error"]
    errmsg: str


def _for_charts(handler: Callable[[HttpRequest, Any], Response[bytes]]) -> Any:
    """Returns a handler of the application whose answers have the fields that charts read."""

    def answer(request: HttpRequest, error: Exception) -> Response[bytes]:
        response = handler(request, error)
        problem = msgspec.json.decode(response.content, type=Problem)
        response.content = encode_json(_chart_problem(problem))
        return response

    return answer


def _chart_problem(problem: Problem) -> ChartProblem:
    fields = [] if problem.errors is msgspec.UNSET else problem.errors
    message = "; ".join([problem.detail, *(f"{each.field}: {each.message}" for each in fields)])
    return ChartProblem(
        problem.detail, problem.code, problem.request_id, problem.errors, s="error", errmsg=message
    )


def _refused(description: str, problem: Problem) -> ResponseSpec:
    return described(ChartProblem, _chart_problem(problem), description)


_INVALID: Final = [FieldProblem("resolution", "Must be one of 1, 5, 15, 1D, 1W, 1M")]
_ERRORS: Final = {
    404: _refused("No feed has the symbol", Problem("Symbol not found", "symbol_not_found", ID)),
    422: _refused("A value is out of bounds", Problem("Invalid resolution", "invalid", ID, _INVALID)),
    503: _refused(
        "The feed has no data yet, no provider, or its upstream failed",
        Problem("No data yet for stocks", "no_data", ID),
    ),
}


def answered_to_charts(
    kind: Any, example: Any, description: str, *errors: int, media_type: str = "application/json"
) -> dict[int, ResponseSpec]:
    """Returns the responses of a route of charts: 200, 304, 429 and the given errors."""
    responses = answered(kind, example, description, 429)
    responses[200].media_type = media_type
    return responses | {status: _ERRORS[status] for status in errors}


class ExchangeChoice(Struct, frozen=True):
    """A choice of the search: `value` is what the search takes."""

    value: str
    name: str
    desc: str


class TypeChoice(Struct, frozen=True):
    """A choice of the search: `value` is what the search takes."""

    name: str
    value: str


class Configuration(Struct, frozen=True, kw_only=True):
    """The configuration of charts, in the fields of TradingView's `DatafeedConfiguration`."""

    supports_search: bool = True
    supports_group_request: bool = False
    supports_marks: bool = True
    supports_timescale_marks: bool = False
    supports_time: bool = True
    supported_resolutions: list[str]
    exchanges: list[ExchangeChoice]
    symbols_types: list[TypeChoice]

    @classmethod
    def of(cls, names: Sequence[str]) -> "Configuration":
        """Returns the configuration with some exchanges."""
        return cls(
            supported_resolutions=[*RESOLUTIONS],
            exchanges=[
                ExchangeChoice("", "All exchanges", ""),
                *(ExchangeChoice(name, name, name) for name in names),
            ],
            symbols_types=[TypeChoice("All types", ""), *(TypeChoice(_NAMES[each], each) for each in TYPES)],
        )


@get(
    "/config",
    sync_to_thread=False,
    operation_id="getUdfConfig",
    summary="Configuration of charts",
    operation_class=Reading,
    responses=answered_to_charts(
        Configuration, Configuration.of(["DOVIZ", "NASDAQ", "NYSE"]), "The configuration"
    ),
)
@repeatable
def config(services: Services) -> Answer:
    """The first request of a chart: resolutions, and the choices of its search."""
    return document_answer(SharedBody(encode_json(Configuration.of(exchanges(services)))), CACHE_LISTS)


@get(
    "/symbols",
    operation_id="getUdfSymbol",
    summary="A symbol as a chart must know it",
    operation_class=FeedReading,
    responses=answered_to_charts(SymbolInfo, EXAMPLE_SYMBOL, "The symbol", 404, 422, 503),
)
@repeatable
async def symbols(services: Services, symbol: parameters.Name) -> Answer:
    """Trading hours with holidays and half days, the step of prices, and the resolutions of the bars.

    Times of sessions are in the time zone of the venue. Without an exchange in front, a name that several
    feeds have means the first of stocks, crypto pairs and Turkish prices.
    """
    instrument = find_instrument(services, symbol)
    body = SharedBody(encode_json(await symbol_info(services, instrument)))
    state = services.mirrors[instrument.feed].state(services.monotonic())
    return feed_answer(body, state, _CACHE_SEARCH)


@get(
    "/search",
    operation_id="searchUdfSymbols",
    summary="Search symbols for a chart",
    operation_class=FeedReading,
    responses=answered_to_charts(list[FoundSymbol], EXAMPLE_FOUND, "The best matches first", 422, 503),
    opt={"limit": GROUP},
)
@repeatable
async def search(
    services: Services,
    *,
    text: parameters.Text = "",
    kind: parameters.Kind = "",
    exchange: parameters.ExchangeName = "",
    limit: parameters.Limit = 30,
) -> Answer:
    """The search of `/api/search`, by type and exchange."""
    found = await find_symbols(services, text, parameters.kind_of(kind), exchange, limit)
    state = combined_state(services, services.configured())
    return feed_answer(SharedBody(encode_json(found)), state, _CACHE_SEARCH)


@get(
    "/history",
    operation_id="getUdfHistory",
    summary="Bars of a chart",
    operation_class=HistoryReading,
    responses=answered_to_charts(ChartBars, EXAMPLE_BARS, "The bars, ascending", 404, 422, 503),
    opt={"door": "bars"},
)
@repeatable
async def history(
    services: Services,
    *,
    symbol: parameters.Name,
    resolution: parameters.Resolution,
    end: parameters.End,
    start: parameters.Start = None,
    countback: parameters.CountBack = None,
) -> Answer:
    """The bars that open in [`from`, `to`), or the last `countback` ones before `to`.

    They are those of the market's own route; the last bar's close is the current price.

    Bars of a day or longer have the time of midnight UTC of their first trading day. Without bars in the
    span, `s` is `no_data`, and `nextTime` is the time of the last bar before it.
    """
    instrument = find_instrument(services, symbol)
    market = market_of(services, instrument.feed, instrument.quote.key)
    interval = parameters.interval_of(resolution, resolutions_of(market.feed, market.calendar))
    count = parameters.count_of(countback)
    if count is None and start is None:
        raise InvalidValue("from", "Must be given if `countback` is not")
    first = parameters.time_of("from", "0" if start is None else start)
    wanted = HistoryQuery(interval, first, parameters.time_of("to", end), count)
    bars, last = await read_history(services, market, wanted)
    body, mirror = SharedBody(encode_json(bars)), services.mirrors[market.feed]
    headers = bars_headers(
        mirror.state(services.monotonic()),
        market,
        body.tag,
        *source_headers(market, last.status, last.source, last.bars),
    )
    return Answer(body, headers, tag=headers[0][1], is_current=until_prices_move(services, mirror, [market]))


@get(
    "/marks",
    sync_to_thread=False,
    operation_id="getUdfMarks",
    summary="News on a chart",
    operation_class=Reading,
    responses=answered_to_charts(Marks, EXAMPLE_MARKS, "The marks, ascending", 404, 422, 503),
)
@repeatable
def marks(
    services: Services,
    *,
    symbol: parameters.Name,
    start: parameters.MarksStart,
    end: parameters.MarksEnd,
    resolution: parameters.Resolution,
) -> Answer:
    """The newest articles about a stock, each on the bar of its time; other symbols have none."""
    instrument = find_instrument(services, symbol)
    interval = parameters.interval_of(resolution, [*RESOLUTIONS])
    span = parameters.time_of("from", start), parameters.time_of("to", end)
    return document_answer(
        SharedBody(encode_json(marks_of(services, instrument, interval, *span))), CACHE_NEWS
    )


@get(
    "/time",
    sync_to_thread=False,
    operation_id="getUdfTime",
    summary="The time of the service",
    operation_class=Reading,
    responses=answered_to_charts(int, 1_795_188_600, "Unix time in seconds", media_type="text/plain"),
)
@repeatable
def time(services: Services) -> Answer:
    """Unix time in whole seconds, as text."""
    return document_answer(SharedBody(b"%d" % services.now(), _TEXT), CACHE_QUOTES)


@get(
    "/quotes",
    sync_to_thread=False,
    operation_id="getUdfQuotes",
    summary="Quotes for a chart's watchlist",
    operation_class=FeedReading,
    responses=answered_to_charts(ChartQuotes, EXAMPLE_QUOTES, "A quote of each name", 422),
)
@repeatable
def quotes(services: Services, symbols: parameters.Names) -> Answer:
    """The quotes of stocks, pairs, currencies and metals; an unknown name has an item with `s` = `error`."""
    found = ChartQuotes(d=[chart_quote(services, name) for name in names_of(symbols)])
    body = SharedBody(encode_json(found))
    return feed_answer(body, combined_state(services, services.configured()), CACHE_QUOTES)


ROUTER: Final = Router(
    "/api/udf",
    route_handlers=[config, symbols, search, history, marks, time, quotes],
    tags=["TradingView"],
    exception_handlers={kind: _for_charts(handler) for kind, handler in exception_handlers().items()},
    opt={
        "tag": "TradingView's UDF protocol, for its charts and others that speak it.",
        "feed": EVERY,
        "door": "udf",
        "limit": "market",
    },
)
