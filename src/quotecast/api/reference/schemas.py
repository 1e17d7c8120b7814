"""Completes the schemas of the OpenAPI document: names, descriptions, formats, enumerations and examples."""

import re
from collections.abc import Collection
from typing import Any, Final

from msgspec import json

from quotecast.api.reference.error_codes import error_codes
from quotecast.api.reference.field_examples import FieldExamples
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

Schema = dict[str, Any]


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
    # By the struct: of the field, or of its value unless that is null.
    own = (each.get("description", "") for each in (schema, *schema.get("anyOf", ())))
    text = next(filter(None, own), "") or FIELD_TEXTS.get(key, FIELD_TEXTS.get(field))
    return {**more, **schema, **({"description": text} if text else {})}
