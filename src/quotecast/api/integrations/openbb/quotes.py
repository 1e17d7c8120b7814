"""Quotes and bars of each feed for the widgets of OpenBB Workspace."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from litestar import Router, get
from litestar.handlers import HTTPRouteHandler

from quotecast.api.answers.answers import JSON, Answer, SharedBody, names_answer, quotes_answer, shared_body
from quotecast.api.answers.lasting import lasting_answer
from quotecast.api.bars.handlers import crypto_bars, doviz_bars, stock_bars
from quotecast.api.bars.parameters import Paging, Span, StockQuery, Timeframe, one_length, timeframe_of
from quotecast.api.integrations.openbb import rows
from quotecast.api.integrations.openbb.charts import CANDLES
from quotecast.api.integrations.openbb.parameters import Group, OneSymbol, Raw, Rows, Theming
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.selection import Selection, missing_headers, renamed_headers, selection_of
from quotecast.api.market.services import Services, require_mirror
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import BarsReading, BatchReading, FeedReading, answered
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.mirror import Mirror
from quotecast.feed.projection import WHOLE
from quotecast.market.feeds import Feed

#: A JSON array of objects.
Objects = list[dict[str, Any]]
#: A Plotly figure, or the rows behind it.
Figure = dict[str, Any] | list[dict[str, Any]]

FIGURE: Final = {"data": [{"type": "candlestick", "x": ["2026-11-20T15:00:00Z"]}], "layout": {}}
OPTION: Final = {"label": "AAPL", "value": "AAPL", "extraInfo": {"description": "Apple Inc."}}
_EXAMPLES: Final = {
    Feed.STOCKS: examples.STOCK,
    Feed.CRYPTO: examples.CRYPTO,
    Feed.DOVIZ: examples.DOVIZ,
}


def rows_answer(services: Services, feed: Feed, wanted: Selection) -> Answer:
    """Returns quotes as rows, in the order of the names; a group has its members by symbol."""
    mirror = require_mirror(services, feed)
    if wanted == "all":
        return lasting_answer(mirror, services.monotonic(), _all_rows)
    found: dict[str, QuoteEntry] = {}
    missing = []
    for name in wanted:
        if ":" in name:
            group = mirror.group(name)
            entries = [*mirror.entries(mirror.members()[group])] if group else []
        else:
            entry = mirror.find(name)
            entries = [entry] if entry else []
        found |= {entry.key: entry for entry in entries}
        if not entries:
            missing.append(name)
    body = _array(found.values())
    notes = [*missing_headers(missing), *renamed_headers(mirror, mirror.keys_named(wanted).items())]
    return quotes_answer(mirror, services.monotonic(), SharedBody(body), *notes)


def _all_rows(mirror: Mirror) -> bytes:
    return _array(mirror.ordered())


def _array(entries: Any) -> bytes:
    return b"[%b]" % b",".join(entry.full(WHOLE["json"]) for entry in entries)


def groups_route(feed: Feed, name: str) -> HTTPRouteHandler:
    """Returns the route with the options of a parameter for groups."""

    @get(
        "/groups",
        sync_to_thread=False,
        operation_id=f"listOpenbb{name}Groups",
        summary=f"Options of a parameter for groups: {feed.spec.name}",
        operation_class=FeedReading,
        responses=answered(
            Objects, [{"label": "Energy", "value": "sector:Energy"}], "All, then the groups", 429, 503
        ),
    )
    @repeatable
    def groups(services: Services) -> Answer:
        """Groups that have members now."""
        mirror = require_mirror(services, feed)
        return names_answer(mirror, services.monotonic(), shared_body(mirror, rows.group_options))

    return groups


@get(
    "/bars",
    operation_id="getOpenbbMarketBars",
    summary="Chart of a stock's bars",
    operation_class=BarsReading,
    responses=answered(Figure, FIGURE, "A Plotly figure, or the bars", 404, 422, 429, 503),
    opt={"door": "bars"},
)
@repeatable
async def _market_bars(
    services: Services, symbol: OneSymbol, *, span: Span = None, theme: Theming = "dark", raw: Raw = "false"
) -> Answer:
    """Candles of a range, at the range's default interval."""
    query = StockQuery.of(span, one_length(None, None), Paging())
    answer = await stock_bars(services, symbol, query)
    return answer if raw == "true" else answer.converted(CANDLES[theme], JSON)


def _chart(name: str, summary: str, read: Callable[..., Awaitable[Answer]]) -> HTTPRouteHandler:
    @get(
        "/bars",
        operation_id=f"getOpenbb{name}Bars",
        summary=summary,
        operation_class=BarsReading,
        responses=answered(Figure, FIGURE, "A Plotly figure, or the bars", 404, 422, 429, 503),
        opt={"door": "bars"},
    )
    @repeatable
    async def bars(
        services: Services,
        symbol: OneSymbol,
        *,
        timeframe: Timeframe = "1h",
        theme: Theming = "dark",
        raw: Raw = "false",
    ) -> Answer:
        """Candles of the newest 500 bars."""
        answer = await read(services, symbol, timeframe_of(timeframe, None), Paging())
        return answer if raw == "true" else answer.converted(CANDLES[theme], JSON)

    return bars


_BARS: Final = {
    Feed.STOCKS: _market_bars,
    Feed.CRYPTO: _chart("Crypto", "Chart of a pair's bars", crypto_bars),
    Feed.DOVIZ: _chart("Doviz", "Chart of the bars of a currency or metal", doviz_bars),
}


def feed_router(feed: Feed, *more: HTTPRouteHandler) -> Router:
    """Returns the routes of one feed, under its own rate limit."""
    name = feed.spec.name
    title = name.capitalize()

    @get(
        "/grid",
        sync_to_thread=False,
        operation_id=f"getOpenbb{title}Grid",
        summary=f"Rows of a live grid: {name}",
        operation_class=BatchReading,
        responses=answered(Objects, [_EXAMPLES[feed]], "A row for each quote", 422, 429, 503),
    )
    @repeatable
    def grid(services: Services, symbol: Rows) -> Answer:
        """The socket of the grid then sends the changes; `docs/openbb.md` has its messages."""
        return rows_answer(services, feed, selection_of(symbol, "symbol"))

    @get(
        "/quotes",
        sync_to_thread=False,
        operation_id=f"getOpenbb{title}Quotes",
        summary=f"Quotes of a group as rows: {name}",
        operation_class=BatchReading,
        responses=answered(Objects, [_EXAMPLES[feed]], "A row for each quote", 422, 429, 503),
    )
    @repeatable
    def table(services: Services, group: Group = "all") -> Answer:
        """Returns the quotes of a group, or of the whole feed."""
        return rows_answer(services, feed, selection_of([group], "group"))

    @get(
        "/symbols",
        sync_to_thread=False,
        operation_id=f"listOpenbb{title}Symbols",
        summary=f"Options of a parameter for symbols: {name}",
        operation_class=FeedReading,
        responses=answered(Objects, [OPTION], "At most 1000, the greatest turnover first", 429, 503),
    )
    @repeatable
    def symbols(services: Services) -> Answer:
        """A dropdown has no pages; other symbols may be typed."""
        mirror = require_mirror(services, feed)
        return names_answer(mirror, services.monotonic(), shared_body(mirror, rows.symbol_options))

    handlers = [grid, table, symbols, _BARS[feed], *more]
    return Router(f"/{name}", route_handlers=handlers, opt={"feed": feed, "limit": name})
