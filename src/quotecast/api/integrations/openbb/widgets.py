"""`widgets.json`: what OpenBB Workspace offers from this service.

The format is that of docs.openbb.co/workspace/developers/json-specs/widgets-json-reference. A widget's id
is its endpoint with underscores, as the layouts in `apps.json` name it.
"""

from collections.abc import Sequence
from typing import Any, Final

from quotecast.api.integrations.openbb import columns
from quotecast.api.integrations.openbb.columns import Column
from quotecast.market.bars import INTERVALS
from quotecast.market.feeds import Feed
from quotecast.market.ranges import RANGES

Widget = dict[str, Any]
Param = dict[str, Any]

ROOT: Final = "api/openbb"
#: Milliseconds between two reads of a widget: prices, lists that move slowly, and data of a day.
PRICES_MS: Final = 5_000
LISTS_MS: Final = 60_000
DAY_MS: Final = 900_000

_NAMES: Final = {Feed.STOCKS: "Stocks", Feed.CRYPTO: "Crypto", Feed.DOVIZ: "Türkiye"}
_WATCHED: Final = {
    Feed.STOCKS: "AAPL,MSFT,NVDA,AMZN,GOOGL",
    Feed.CRYPTO: "BTC/USDT,ETH/USDT,SOL/USDT",
    Feed.DOVIZ: "USD,EUR,gram-altin",
}
_CHARTED: Final = {Feed.STOCKS: "AAPL", Feed.CRYPTO: "BTC/USDT", Feed.DOVIZ: "gram-altin"}


def widget_id(endpoint: str) -> str:
    """Returns the id of the widget of an endpoint."""
    return endpoint.replace("/", "_")


def _param(name: str, label: str, kind: str, value: Any, description: str, **more: Any) -> Param:
    return {
        "paramName": name,
        "label": label,
        "type": kind,
        "value": value,
        "description": description,
        "show": True,
        **more,
    }


def _choice(name: str, label: str, value: str, values: Sequence[str], description: str) -> Param:
    options = [{"label": each, "value": each} for each in values]
    return _param(name, label, "text", value, description, options=options)


def _symbol(feed: Feed, value: str, *, several: bool = False) -> Param:
    more = {"multiSelect": True} if several else {}
    return _param(
        "symbol",
        "Symbols" if several else "Symbol",
        "endpoint",
        value,
        "Symbols of the rows" if several else "Symbol in any case",
        optionsEndpoint=f"{ROOT}/{feed.spec.name}/symbols",
        style={"popupWidth": 450},
        **more,
    )


def _clicked(feed: Feed) -> Param:
    """Returns the parameter that a click in a table sets for other widgets; the table itself ignores it."""
    return {**_symbol(feed, _CHARTED[feed]), "show": False}


def _widget(
    endpoint: str, kind: str, name: str, description: str, category: str, *, every: int = 0, **more: Any
) -> Widget:
    """Returns a widget that reads its endpoint again after `every` milliseconds, if that is not 0."""
    reading = {"refetchInterval": every, "staleTime": every} if every else {}
    return {
        "name": name,
        "description": description,
        "category": category,
        "type": kind,
        "endpoint": endpoint,
        "gridData": {"w": 20, "h": 12, "minW": 8, "minH": 4},
        "source": ["quotecast"],
        **more,
        **reading,
    }


def _table(given: list[Column], **more: Any) -> dict[str, Any]:
    return {"table": {"showAll": True, "enableAdvanced": True, "columnsDefs": given}, **more}


def _grid(feed: Feed) -> Widget:
    name = feed.spec.name
    return _widget(
        f"{ROOT}/{name}/grid",
        "live_grid",
        f"{_NAMES[feed]}: live quotes",
        f"Quotes of a list of symbols, live: {_TEXTS[feed]}.",
        _NAMES[feed],
        wsEndpoint=f"api/ws/openbb/{name}",
        data=_table(columns.QUOTES[feed], wsRowIdColumn=columns.ROW_OF[feed]),
        params=[_symbol(feed, _WATCHED[feed], several=True)],
        every=LISTS_MS,
    )


def _quotes(feed: Feed) -> Widget:
    name = feed.spec.name
    groups = []
    if feed is not Feed.CRYPTO:
        options = f"{ROOT}/{name}/groups"
        text = "Sector, category or bank"
        groups.append(_param("group", "Group", "endpoint", "all", text, optionsEndpoint=options))
    return _widget(
        f"{ROOT}/{name}/quotes",
        "table",
        f"{_NAMES[feed]}: quotes",
        f"Quotes of a group, or of everything: {_TEXTS[feed]}.",
        _NAMES[feed],
        data=_table(columns.clickable(columns.QUOTES[feed], columns.ROW_OF[feed])),
        params=[*groups, _clicked(feed)],
        every=PRICES_MS,
    )


def _bars(feed: Feed) -> Widget:
    if feed is Feed.STOCKS:
        length = _choice("range", "Range", "1M", RANGES, "How far back")
    else:
        length = _choice("timeframe", "Interval", "1h", INTERVALS, "Length of a bar; M is a month")
    return _widget(
        f"{ROOT}/{feed.spec.name}/bars",
        "chart",
        f"{_NAMES[feed]}: candles",
        f"Open, high, low and close of one symbol: {_TEXTS[feed]}.",
        _NAMES[feed],
        raw=True,
        params=[_symbol(feed, _CHARTED[feed]), length],
        every=LISTS_MS,
    )


_TEXTS: Final = {
    Feed.STOCKS: "US stocks in US dollars",
    Feed.CRYPTO: "crypto pairs over the last 24 hours",
    Feed.DOVIZ: "Turkish currency, gold and precious metals, those of banks among them",
}


def _company(path: str, kind: str, name: str, description: str, given: list[Column] | None) -> Widget:
    return _widget(
        f"{ROOT}/company/{path}",
        kind,
        f"Company: {name}",
        description,
        "Companies",
        **({} if given is None else {"data": _table(given)}),
        params=[_symbol(Feed.STOCKS, "AAPL")],
        every=DAY_MS,
    )


_ALL: Final = [
    *(make(feed) for make in (_grid, _quotes, _bars) for feed in Feed),
    _widget(
        "api/udf",
        "advanced_charting",
        "TradingView chart",
        "Bars of any stock, pair, currency or metal in TradingView's chart.",
        "Charts",
        data={"defaultSymbol": "AAPL", "updateFrequency": LISTS_MS},
    ),
    _widget(
        f"{ROOT}/market/movers",
        "table",
        "Stocks: movers",
        "The 20 stocks that rose or fell the most today.",
        "Stocks",
        data=_table(columns.MOVERS),
        params=[
            _choice("list", "List", "gainers", ("gainers", "losers"), "Which end of the ranking"),
            _clicked(Feed.STOCKS),
        ],
        every=PRICES_MS,
    ),
    _widget(
        f"{ROOT}/market/heatmap",
        "chart",
        "Stocks: heatmap",
        "All stocks by sector: the area is the market capitalization, the colour the change of the day.",
        "Stocks",
        raw=True,
        data=_table(columns.TILES),
        every=LISTS_MS,
    ),
    _widget(
        f"{ROOT}/market/news",
        "newsfeed",
        "Stocks: news",
        "The newest articles, of all stocks or of one.",
        "Stocks",
        params=[
            _symbol(Feed.STOCKS, ""),
            _param("limit", "Articles", "number", 20, "How many articles, at most 50"),
        ],
        every=LISTS_MS,
    ),
    _widget(
        f"{ROOT}/market/status",
        "metric",
        "State of the feeds",
        "Whether prices are live, how many symbols each feed has, and the session in New York.",
        "Service",
        every=PRICES_MS,
    ),
    _widget(
        f"{ROOT}/doviz/banks",
        "table",
        "Türkiye: spreads of banks",
        "Buying and selling prices of banks for one currency or metal, the narrowest spread first.",
        "Türkiye",
        data=_table(columns.BANKS),
        params=[
            _param(
                "instrument",
                "Instrument",
                "endpoint",
                "USD",
                "Currency or metal that banks deal in",
                optionsEndpoint=f"{ROOT}/doviz/instruments",
            )
        ],
        every=PRICES_MS,
    ),
    _company("profile", "metric", "profile", "The main figures of a company.", None),
    _company("metrics", "table", "all figures", "Every figure that the provider has.", columns.FIGURES),
    _company("earnings", "table", "earnings", "Reported and expected earnings by quarter.", columns.EARNINGS),
    _company(
        "recommendations",
        "table",
        "recommendations",
        "Numbers of analysts by recommendation and month.",
        columns.RECOMMENDATIONS,
    ),
]
WIDGETS: Final[dict[str, Widget]] = {widget_id(each["endpoint"]): each for each in _ALL}
