"""Completes the schemas and parameters of the OpenAPI document: names, descriptions, formats and examples."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from msgspec import json

from quotecast.api.bars.queries import BarQuery, token_of
from quotecast.api.reference.error_codes import error_codes
from quotecast.api.reference.field_texts import FIELD_TEXTS
from quotecast.market.instruments import CATEGORIES

_DATES: Final = (
    *("bought_at", "coveredFrom", "coveredTo", "date", "day", "exDate", "payableDate", "period"),
    *("read", "recordDate", "since"),
)
_TIMES: Final = (
    *("added_at", "armed_at", "created_at", "expires_at", "happened_at", "last_error_at", "last_sent_at"),
    *("previous_until", "revoked_at", "updated_at"),
    *("end", "knownAt", "lastUpdate", "nextClose", "nextOpen", "start", "time", "timestamp"),
)
#: Fields with a standard format, by name.
_FORMATS: Final = {
    **dict.fromkeys(_DATES, "date"),
    **dict.fromkeys(_TIMES, "date-time"),
    "email": "email",
    "endpoint": "uri",
    "url": "uri",
}
#: The values of fields that the structs know as text, beside the codes of errors.
_VALUES: Final = {
    "DovizQuote.category": [*CATEGORIES],
    "EarningsEvent.hour": ["bmo", "amc", "dmh", ""],
}
#: The schema of a generic struct has the path of its argument's module in its name.
_GENERIC: Final = re.compile(r"^(\w+?)_[\w.]*?(\w+)_$")

Fields = Iterator[tuple[str, str, Any]]

#: Examples of fields that no example of a request or answer has, or of which another schema's would be wrong.
_EXAMPLES: Final[Mapping[str, Any]] = {
    "AlertChange.active": False,
    "DovizBar.volume": None,
    "ExtendedHours.session": "post",
    "FeedAge.problem": "unreadable",
    "NewAlert.type": "stock",
    "NewTransaction.amount": 2.5,
    "NewTransaction.new_shares": 4,
    "NewTransaction.old_shares": 1,
    "TransactionShown.amount": 2.5,
    "TransactionShown.new_shares": 4,
    "TransactionShown.old_shares": 1,
    "ChartBars.nextTime": 1_795_188_300,
    "Overview.errors": {"earnings": "Upstream unavailable"},
    "ProfileChange.end_sessions": True,
    "Scope.addresses": ["203.0.113.0/24"],
    "SymbolInfo.delay": 900,
    "Terms.source": "https://quotes.example.com/terms",
    "UnknownQuote.v": {},
    "CorporateAction.amount": 0.27,
    "CorporateAction.currency": "USD",
    "attribution": "Example Exchange",
    "FeedMinutes.symbols": 512,
    "medianCovered": 388,
    "fewestCovered": {"AAPL": 388},
    "delayMinutes": 15,
    "homeSymbol": "BABA",
    "newSymbol": "META",
    "note": "Take profit",
    "read": "2026-09-28",
    "since": "2026-11-02",
}
#: Values that say little as an example.
_POOR: Final[tuple[Any, ...]] = (None, "", [], {})

Schema = dict[str, Any]

#: Descriptions of path parameters.
_PARAMETER_TEXTS: Final = {
    "alert_id": "Id of one of your alerts",
    "holding_id": "Id of one of your holdings",
    "key_id": "Id of one of your API keys",
    "list_id": "Id of one of your watchlists",
    "session_id": "Id of one of your sessions",
    "subscription_id": "Id of one of your subscribed browsers",
    "symbol": "Ticker of the company, in any case",
    "transaction_id": "Id of one of your transactions",
}
_PARAMETER_ID: Final = "01a1fc87e0c47a905dd5d085"
#: Example values by name, or by `group.name` for the routes of one group.
_PARAMETER_EXAMPLES: Final = {
    **{name: _PARAMETER_ID for name in _PARAMETER_TEXTS if name.endswith("_id")},
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


def without_modules(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the document with `EstimatesOfEpsEstimate` for the struct `Estimates[EpsEstimate]`."""
    text = json.encode(document)
    for name in document["components"]["schemas"]:
        if generic := _GENERIC.match(name):
            text = text.replace(name.encode(), "Of".join(generic.groups()).encode())
    renamed: dict[str, Any] = json.decode(text)
    return renamed


def complete_fields(document: dict[str, Any], bodies: Collection[str]) -> None:
    """Adds to each field what its struct does not say; `bodies` are the schemas of request bodies."""
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        properties = schema.get("properties", {})
        for field, described in properties.items():
            properties[field] = _described(name, field, described)
    if "Problem" in schemas:
        schemas["Problem"]["properties"]["code"]["enum"] = error_codes()
    examples = FieldExamples(document)
    for name, schema in schemas.items():
        for field, described in schema.get("properties", {}).items():
            # The fields of objects have examples of their own.
            if "$ref" not in str(described):
                described["examples"] = [described.get("const", examples.example(name, field))]
            # A request may omit the field, an answer always has it.
            if "default" in described:
                del described["default"]
                if name not in bodies and field not in schema["required"]:
                    schema["required"].append(field)


def _described(name: str, field: str, schema: Schema) -> Schema:
    key = f"{name}.{field}"
    choices = schema.get("oneOf", ())
    if len(choices) == 1:
        schema = {**schema, **choices[0]}
        del schema["oneOf"]
    more: Schema = {"format": _FORMATS[field]} if field in _FORMATS and schema.get("type") != "array" else {}
    if key in _VALUES:
        more["enum"] = _VALUES[key]
    # The struct's description of the field, or of its value unless that is null.
    own = (each.get("description", "") for each in (schema, *schema.get("anyOf", ())))
    text = next(filter(None, own), "") or FIELD_TEXTS.get(key, FIELD_TEXTS.get(field))
    return {**more, **schema, **({"description": text} if text else {})}


class FieldExamples:
    """The values of fields in the examples of a document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._schemas = document["components"]["schemas"]
        self._found: dict[str, Any] = {}
        for media in _media(document):
            for example in media.get("examples", {}).values():
                self._read(media["schema"], example["value"])

    def example(self, schema: str, field: str) -> Any:
        """Returns the field's value in an example of the schema, else of another schema with this field."""
        key = f"{schema}.{field}"
        if key in _EXAMPLES:
            return _EXAMPLES[key]
        candidates = (self._found.get(key), _EXAMPLES.get(field), self._found.get(field))
        return next((each for each in candidates if each not in _POOR), candidates[0])

    def _read(self, schema: Mapping[str, Any], value: Any) -> None:
        for name, field, given in self._fields(schema, value):
            for key in (f"{name}.{field}", field):
                if self._found.get(key) in _POOR:
                    self._found[key] = given

    def _fields(self, schema: Mapping[str, Any], value: Any) -> Fields:
        """Yields schema, name and value of every field in a value."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            for field, own in self._schemas[name].get("properties", {}).items():
                if field in value:
                    yield name, field, value[field]
                    yield from self._fields(own, value[field])
        elif "items" in schema:
            for each in value:
                yield from self._fields(schema["items"], each)
        elif isinstance(schema.get("additionalProperties"), dict):
            for each in value.values():
                yield from self._fields(schema["additionalProperties"], each)
        for choice in schema.get("oneOf", schema.get("anyOf", ())):
            if self._fits(choice, value):
                yield from self._fields(choice, value)

    def _fits(self, choice: Mapping[str, Any], value: Any) -> bool:
        """Returns whether a value is one of the objects or lists that a union names."""
        if "$ref" not in choice:
            return choice.get("type") == "array" and isinstance(value, list)
        schema = self._schemas[choice["$ref"].rpartition("/")[2]]
        return isinstance(value, dict) and set(schema["required"]) <= set(value) <= set(schema["properties"])


def _media(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for item in document["paths"].values():
        for operation in item.values():
            for each in (operation.get("requestBody", {}), *operation["responses"].values()):
                yield from each.get("content", {}).values()


def complete_parameters(document: dict[str, Any]) -> None:
    """Adds to each parameter what its handler does not say."""
    for path, item in document["paths"].items():
        group = path.removeprefix("/api/").removeprefix("openbb/").partition("/")[0]
        for parameter in (each for operation in item.values() for each in operation.get("parameters", ())):
            schema, name = _without_null(parameter["schema"]), parameter["name"]
            text = schema.pop("description", "")
            parameter["description"] = parameter.get("description") or text or _PARAMETER_TEXTS.get(name, "")
            example = _PARAMETER_EXAMPLES.get(f"{group}.{name}", _PARAMETER_EXAMPLES.get(name))
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
