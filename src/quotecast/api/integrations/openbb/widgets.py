"""`widgets.json`: what OpenBB Workspace offers from this service.

The format is that of docs.openbb.co/workspace/developers/json-specs/widgets-json-reference. A widget's id
is its endpoint with underscores, as the layouts in `apps.json` name it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import fields

from quotecast.market.bars import INTERVALS
from quotecast.market.feeds import Feed
from quotecast.market.financials import Earnings, Recommendation
from quotecast.market.heatmap import HeatmapStock
from quotecast.market.movers import Mover
from quotecast.market.moves import common_fields
from quotecast.market.ranges import RANGES

Widget = dict[str, Any]
Param = dict[str, Any]
Column = dict[str, Any]

_NUMBERS: Final = re.compile(r"\b(float|int)\b")
#: Fields that a table leaves out at first; a user may show them.
_HIDDEN: Final = frozenset({"provider", "homeSymbol", "open", "high", "low", "previousClose", "category"})
#: A click on a symbol sets the parameter `symbol` of the widgets in the same group.
_CLICK: Final = {
    "renderFn": "cellOnClick",
    "renderFnParams": {"actionType": "groupBy", "groupBy": {"paramName": "symbol"}},
}
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "ticker": {"pinned": "left"},
    "price": {"renderFn": "showCellChange", "renderFnParams": {"colorValueKey": "change"}},
    "change": {"renderFn": "greenRed"},
    "changePercent": {"renderFn": "greenRed", "formatterFn": "percent"},
    "spreadPercent": {"formatterFn": "percent"},
    "surprisePercent": {"renderFn": "greenRed", "formatterFn": "percent"},
    "year": {"formatterFn": "none"},
    "weight": {"formatterFn": "normalizedPercent"},
}

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


def _column(name: str, *, number: bool, **more: Any) -> Column:
    """Returns a column of numbers or texts; numbers show all their digits."""
    kind = {"cellDataType": "number", "formatterFn": "none"} if number else {"cellDataType": "text"}
    # `changePercent` becomes `Change percent`.
    title = re.sub(r"(?<=[a-z])([A-Z])", lambda found: f" {found[1].lower()}", name).capitalize()
    return {"field": name, "headerName": title, **kind, **_MORE.get(name, {}), **more}


def _columns_of(kind: type[Struct], *, first: Iterable[str] = ()) -> list[Column]:
    """Returns the columns of a struct, those of `first` in front."""
    known = {field.encode_name: field for field in common_fields(kind)}
    order = [*first, *(name for name in known if name not in set(first))]
    found: list[Column] = []
    for name in order:
        hidden = {"hide": True} if name in _HIDDEN else {}
        found.append(_column(name, number=bool(_NUMBERS.search(str(known[name].type))), **hidden))
    return found


def _clickable(columns: Iterable[Column], *keys: str) -> list[Column]:
    """Returns columns in which a click on a symbol shows it in the other widgets of the group."""
    return [{**each, **_CLICK} if each["field"] in keys else each for each in columns]


#: The column by which a live grid finds the row of a message.
_ROW_OF: Final[Mapping[Feed, str]] = {feed: fields(feed.spec.move)[0].encode_name for feed in Feed}
#: Columns of quotes by feed.
_QUOTES: Final[Mapping[Feed, list[Column]]] = {
    feed: _columns_of(feed.spec.quote, first=[_ROW_OF[feed], "name", "price", "change", "changePercent"])
    for feed in Feed
}
_BANKS: Final = [
    _column("bank", number=False, pinned="left"),
    _column("symbol", number=False),
    *(_column(name, number=True) for name in ("buying", "selling", "spread", "spreadPercent")),
    _column("currency", number=False),
    _column("timestamp", number=False),
]


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
        data=_table(_QUOTES[feed], wsRowIdColumn=_ROW_OF[feed]),
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
        data=_table(_clickable(_QUOTES[feed], _ROW_OF[feed])),
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
        data=_table(_clickable(_columns_of(Mover), "ticker")),
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
        data=_table([_column("sector", number=False), *_columns_of(HeatmapStock)]),
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
        data=_table(_BANKS),
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
    _company(
        "metrics",
        "table",
        "all figures",
        "Every figure that the provider has.",
        [_column("metric", number=False, pinned="left"), _column("value", number=False)],
    ),
    _company(
        "earnings", "table", "earnings", "Reported and expected earnings by quarter.", _columns_of(Earnings)
    ),
    _company(
        "recommendations",
        "table",
        "recommendations",
        "Numbers of analysts by recommendation and month.",
        _columns_of(Recommendation),
    ),
]
WIDGETS: Final[dict[str, Widget]] = {widget_id(each["endpoint"]): each for each in _ALL}
