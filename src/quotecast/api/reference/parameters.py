"""Completes the parameters of the OpenAPI document: descriptions, examples, and no null."""

from typing import Any, Final

from quotecast.api.bars.queries import BarQuery, token_of

#: Descriptions of path parameters.
_TEXTS: Final = {
    "alert_id": "Id of one of your alerts",
    "holding_id": "Id of one of your holdings",
    "key_id": "Id of one of your API keys",
    "list_id": "Id of one of your watchlists",
    "session_id": "Id of one of your sessions",
    "subscription_id": "Id of one of your subscribed browsers",
    "symbol": "Ticker of the company, in any case",
    "transaction_id": "Id of one of your transactions",
}
_ID: Final = "01a1fc87e0c47a905dd5d085"
#: Example values by name, or by `group.name` for the routes of one group.
_EXAMPLES: Final = {
    **{name: _ID for name in _TEXTS if name.endswith("_id")},
    "Idempotency-Key": "5f0c6a4e-9d0b-4f5e-8a39-6f1f5c1f3d11",
    "after": 17,
    "market.after": "AAPL",
    "crypto.after": "BTC/USDT",
    "doviz.after": "gram-altin",
    "adjusted": "all",
    "adjustment": "all",
    "by": "sector",
    "category": "gold",
    "currency": "TRY",
    "dry_run": True,
    "end": "2026-11-21T00:00:00Z",
    "fineness": "22k",
    "format": "csv",
    "from": "2026-11-23",
    "rates.from": "EUR",
    "group": "sector:Energy",
    "doviz.group": "bank:akbank",
    "instrument": "USD",
    "include": "quote",
    "interval": "1h",
    "limit": 20,
    "list": "default",
    "market.list": "gainers",
    "method": "average",
    "offset": 100,
    "order": "desc",
    "page": token_of(BarQuery("1h", 1_795_132_800, 1_795_165_200, order="desc")),
    "q": "altin",
    "range": "1M",
    "raw": "true",
    "search": "apple",
    "session": "extended",
    "source": "own",
    "start": "2026-11-20T00:00:00Z",
    "symbol": "AAPL",
    "crypto.symbol": "BTC-USDT",
    "doviz.symbol": "gram-altin",
    "symbols": "AAPL,MSFT",
    "prices.symbols": "AAPL,BTC/USDT,gram-altin",
    "crypto.symbols": "BTC/USDT,ETH/USDT",
    "doviz.symbols": "gram-altin,USD",
    "theme": "light",
    "ticker": "AAPL",
    "timeframe": "1h",
    "to": "2026-11-27",
    "rates.to": "TRY",
    "type": "stock",
    "unit": "gram",
    "wait": 25,
}


def complete_parameters(document: dict[str, Any]) -> None:
    """Adds to each parameter what its handler does not say."""
    for path, item in document["paths"].items():
        group = path.removeprefix("/api/").removeprefix("openbb/").partition("/")[0]
        for parameter in (each for operation in item.values() for each in operation.get("parameters", ())):
            schema, name = _without_null(parameter["schema"]), parameter["name"]
            text = schema.pop("description", "")
            parameter["description"] = parameter.get("description") or text or _TEXTS.get(name, "")
            example = _EXAMPLES.get(f"{group}.{name}", _EXAMPLES.get(name))
            if "examples" not in schema and example is not None:
                schema["examples"] = [example]
            parameter["schema"] = schema


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema without null: a query omits a parameter, it cannot contain null."""
    kinds = [each for each in schema.get("oneOf", ()) if each != {"type": "null"}]
    if len(kinds) == 1:
        schema = {**schema, **kinds[0]}
        del schema["oneOf"]
    if isinstance(schema.get("type"), list):
        (kind,) = (each for each in schema["type"] if each != "null")
        schema = {**schema, "type": kind}
    if "enum" in schema:
        schema["enum"] = [each for each in schema["enum"] if each is not None]
    return schema
