"""`apps.json`: a dashboard of the widgets, ready to open.

The format is that of docs.openbb.co/workspace/developers/json-specs/apps-json-reference. The grid is 40 wide.
"""

from typing import Any, Final

from quotecast.api.integrations.openbb.widgets import ROOT, widget_id

_HALF: Final = 20
_HEIGHT: Final = 12


def _tab(tab_id: str, name: str, *endpoints: str) -> dict[str, Any]:
    """Returns a tab with its widgets in two columns."""
    layout = [
        {
            "i": widget_id(f"{ROOT}/{endpoint}"),
            "x": number % 2 * _HALF,
            "y": number // 2 * _HEIGHT,
            "w": _HALF,
            "h": _HEIGHT,
        }
        for number, endpoint in enumerate(endpoints)
    ]
    return {"id": tab_id, "name": name, "layout": layout}


_TABS: Final = [
    _tab("watch", "Watch", "market/grid", "crypto/grid", "doviz/grid", "market/status"),
    _tab("stocks", "Stocks", "market/heatmap", "market/movers", "market/quotes", "market/bars"),
    _tab(
        "company",
        "Company",
        "company/profile",
        "company/metrics",
        "company/earnings",
        "company/recommendations",
        "market/news",
    ),
    _tab("crypto", "Crypto", "crypto/quotes", "crypto/bars"),
    _tab("turkiye", "Türkiye", "doviz/quotes", "doviz/banks", "doviz/bars"),
]
_COMPANY: Final = tuple(f"company/{name}" for name in ("profile", "metrics", "earnings", "recommendations"))


def _group(name: str, symbol: str, *endpoints: str) -> dict[str, Any]:
    """Returns the group of widgets that show the same symbol, also after a click on one in a table."""
    return {
        "name": name,
        "type": "param",
        "paramName": "symbol",
        "defaultValue": symbol,
        "widgetIds": [widget_id(f"{ROOT}/{endpoint}") for endpoint in endpoints],
    }


APPS: Final[list[dict[str, Any]]] = [
    {
        "name": "quotecast",
        "img": "",
        "img_dark": "",
        "img_light": "",
        "description": "Live US stocks, crypto pairs, and Turkish currency and metals of your own service.",
        "allowCustomization": True,
        "tabs": {tab["id"]: tab for tab in _TABS},
        "groups": [
            _group("Stock", "AAPL", "market/quotes", "market/movers", "market/bars", *_COMPANY),
            _group("Pair", "BTC/USDT", "crypto/quotes", "crypto/bars"),
            _group("Currency or metal", "gram-altin", "doviz/quotes", "doviz/bars"),
        ],
        "prompts": [
            f"Which stocks move the most today? @[id:{widget_id(f'{ROOT}/market/movers')}]",
            f"Which bank has the narrowest spread? @[id:{widget_id(f'{ROOT}/doviz/banks')}]",
        ],
    }
]
