"""Charts of widgets as Plotly figures, made of the JSON of the service's answers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

import msgspec

from quotecast.market.codec import encode_json

Theme = Literal["dark", "light"]

_RISE: Final = "#22c55e"
_FALL: Final = "#ef4444"
#: The colours of Workspace's widgets: background, text, grid, and a tile without a change.
_COLOURS: Final[Mapping[Theme, tuple[str, str, str, str]]] = {
    "dark": ("#151518", "#ffffff", "#333338", "#3f3f46"),
    "light": ("#ffffff", "#333333", "#dddddd", "#d4d4d8"),
}
#: The change, in percent, at which a tile has its full colour.
_FULL_COLOUR: Final = 3


def _candles(theme: Theme, body: bytes) -> bytes:
    bars: Sequence[Mapping[str, Any]] = msgspec.json.decode(body)
    columns = {name: [bar[name] for bar in bars] for name in ("open", "high", "low", "close")}
    trace = {
        "type": "candlestick",
        "x": [bar["time"] for bar in bars],
        **columns,
        "increasing": {"line": {"color": _RISE}},
        "decreasing": {"line": {"color": _FALL}},
    }
    # Bars lie side by side: weekends and nights have no place.
    axis = {"type": "category", "nticks": 8, "rangeslider": {"visible": False}}
    return encode_json({"data": [trace], "layout": _layout(theme, axis)})


def _treemap(theme: Theme, body: bytes) -> bytes:
    tiles: list[dict[str, Any]] = []
    for sector in msgspec.json.decode(body)["sectors"]:
        # Ids differ, as a stock may be named like a sector.
        place = f"sector:{sector['sector']}"
        tiles.append(_tile(place, "", sector["sector"], 0, sector["changePercent"]))
        tiles += [
            _tile(stock["ticker"], place, stock["ticker"], stock["weight"], stock["changePercent"])
            for stock in sector["stocks"]
        ]
    trace = {
        "type": "treemap",
        "branchvalues": "remainder",
        **{name: [tile[name] for tile in tiles] for name in ("ids", "labels", "parents", "values", "text")},
        "textinfo": "label+text",
        "hoverinfo": "label+text",
        "marker": {
            "colors": [tile["change"] for tile in tiles],
            "colorscale": [[0, _FALL], [0.5, _COLOURS[theme][3]], [1, _RISE]],
            "cmin": -_FULL_COLOUR,
            "cmid": 0,
            "cmax": _FULL_COLOUR,
        },
    }
    return encode_json({"data": [trace], "layout": _layout(theme, {})})


def _tile(tile_id: str, parent: str, label: str, value: float, change: float | None) -> dict[str, Any]:
    text = "" if change is None else f"{change:+.2f} %"
    return {
        "ids": tile_id,
        "parents": parent,
        "labels": label,
        "values": value,
        "text": text,
        "change": change or 0.0,
    }


def _layout(theme: Theme, axis: Mapping[str, Any]) -> dict[str, Any]:
    background, text, grid, _ = _COLOURS[theme]
    return {
        "paper_bgcolor": background,
        "plot_bgcolor": background,
        "font": {"color": text},
        "margin": {"l": 50, "r": 20, "t": 20, "b": 40},
        "xaxis": {"gridcolor": grid, **axis},
        "yaxis": {"gridcolor": grid},
    }


#: One function a theme, so that a shared body keeps its result.
CANDLES: Final[Mapping[Theme, Callable[[bytes], bytes]]] = {
    theme: partial(_candles, theme) for theme in _COLOURS
}
TREEMAP: Final[Mapping[Theme, Callable[[bytes], bytes]]] = {
    theme: partial(_treemap, theme) for theme in _COLOURS
}
