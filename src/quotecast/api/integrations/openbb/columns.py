"""Columns of tables and grids, from the fields of the structs behind their rows."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import fields

from quotecast.market.feeds import Feed
from quotecast.market.financials import Earnings, Recommendation
from quotecast.market.heatmap import HeatmapStock
from quotecast.market.movers import Mover
from quotecast.market.moves import common_fields

Column = dict[str, Any]

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


def column(name: str, *, number: bool, **more: Any) -> Column:
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
        found.append(column(name, number=bool(_NUMBERS.search(str(known[name].type))), **hidden))
    return found


_NUMBERS: Final = re.compile(r"\b(float|int)\b")


def clickable(columns: Iterable[Column], *keys: str) -> list[Column]:
    """Returns columns in which a click on a symbol shows it in the other widgets of the group."""
    return [{**each, **_CLICK} if each["field"] in keys else each for each in columns]


#: The column by which a live grid finds the row of a message.
ROW_OF: Final[Mapping[Feed, str]] = {feed: fields(feed.spec.move)[0].encode_name for feed in Feed}
#: Columns of quotes by feed.
QUOTES: Final[Mapping[Feed, list[Column]]] = {
    feed: _columns_of(feed.spec.quote, first=[ROW_OF[feed], "name", "price", "change", "changePercent"])
    for feed in Feed
}
MOVERS: Final = clickable(_columns_of(Mover), "ticker")
TILES: Final = [column("sector", number=False), *_columns_of(HeatmapStock)]
EARNINGS: Final = _columns_of(Earnings)
RECOMMENDATIONS: Final = _columns_of(Recommendation)
FIGURES: Final = [column("metric", number=False, pinned="left"), column("value", number=False)]
BANKS: Final = [
    column("bank", number=False, pinned="left"),
    column("symbol", number=False),
    *(column(name, number=True) for name in ("buying", "selling", "spread", "spreadPercent")),
    column("currency", number=False),
    column("timestamp", number=False),
]
