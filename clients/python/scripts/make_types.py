"""Makes rest_types.py from the service's OpenAPI document: `python scripts/make_types.py openapi.json`."""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "src" / "quotecast_client" / "rest_types.py"
HEADING = '''"""Types of what the service answers, from its OpenAPI document.

Made by scripts/make_types.py; not to be edited.
"""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union
'''
#: Types of parameters: the route and the parameter with the values of each.
PARAMETERS = {
    "Interval": ("/api/crypto/bars/{symbol}", "timeframe"),
    "Span": ("/api/market/bars/{symbol}", "range"),
    "ValueSpan": ("/api/portfolio/value", "range"),
    "HowSold": ("/api/portfolio/positions", "method"),
    "AllocatedBy": ("/api/portfolio/allocation", "by"),
    "Order": ("/api/market/bars/{symbol}", "order"),
    "Source": ("/api/market/bars/{symbol}", "source"),
    "Hours": ("/api/market/bars/{symbol}", "session"),
    "Adjusted": ("/api/market/bars/{symbol}", "adjustment"),
    "MetalUnit": ("/api/prices", "unit"),
    "Kind": ("/api/prices", "type"),
}
BASIC = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def type_name(reference: str) -> str:
    """Returns the name of a schema's type: `Estimates_quotecast.market.Eps_` is EstimatesOfEps."""
    name = reference.rsplit("/", 1)[-1]
    generic = re.fullmatch(r"(\w+?)_[\w.]*?(\w+)_", name)
    return f"{generic[1]}Of{generic[2]}" if generic else name


def type_of(schema: Any) -> str:  # noqa: PLR0911 - one a kind of schema
    """Returns the annotation of a schema."""
    if not isinstance(schema, dict) or not schema:
        return "Any"
    if "$ref" in schema:
        return type_name(schema["$ref"])
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return _literal(schema["enum"])
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        return _union([type_of(each) for each in choices])
    if isinstance(schema.get("type"), list):
        return _union([type_of({**schema, "type": each}) for each in schema["type"]])
    if schema.get("type") == "array":
        return f"list[{type_of(schema.get('items'))}]"
    if schema.get("type") == "object":
        return f"dict[str, {type_of(schema.get('additionalProperties'))}]"
    return BASIC.get(schema.get("type", ""), "Any")


def _literal(values: list[Any]) -> str:
    named = [each for each in values if each is not None]
    literal = f"Literal[{', '.join(map(repr, named))}]"
    return literal if len(named) == len(values) else f"Optional[{literal}]"


def _union(types: list[str]) -> str:
    distinct = list(dict.fromkeys(types))
    others = [each for each in distinct if each != "None"]
    joined = others[0] if len(others) == 1 else f"Union[{', '.join(others)}]"
    return joined if len(others) == len(distinct) else f"Optional[{joined}]"


def declaration(name: str, schema: dict[str, Any]) -> str:
    """Returns the declaration of one schema: a TypedDict, whose optional fields a base class lacks."""
    properties = schema.get("properties")
    if not properties:
        return f"{name} = {type_of(schema)}"
    required = [field for field in properties if field in schema.get("required", ())]
    optional = [field for field in properties if field not in required]
    if not all(field.isidentifier() and not keyword.iskeyword(field) for field in properties):
        return _by_call(name, properties, total=not optional)
    text = schema.get("description", "").strip().replace('"', "'") or f"Schema {name}."
    if not optional:
        return _class(name, "TypedDict", text, required, properties)
    if not required:
        return _class(name, "TypedDict, total=False", text, optional, properties)
    base = _class(f"_{name}", "TypedDict", f"Fields that each {name} has.", required, properties)
    return f"{base}\n\n\n{_class(name, f'_{name}, total=False', text, optional, properties)}"


def _class(name: str, bases: str, text: str, fields: list[str], properties: dict[str, Any]) -> str:
    lines = [line for field in fields for line in _field(field, properties[field])]
    end = "\n    " if "\n" in text else ""
    return "\n".join([f"class {name}({bases}):", f'    """{text}{end}"""', "", *lines])


def _field(name: str, schema: dict[str, Any]) -> list[str]:
    """Returns a field with its description above it."""
    described = textwrap.wrap(schema.get("description", ""), 100)
    return [*(f"    #: {line}" for line in described), f"    {name}: {type_of(schema)}"]


def _by_call(name: str, properties: dict[str, Any], *, total: bool) -> str:
    """Returns a TypedDict with names that are none of Python's."""
    fields = ", ".join(f"{field!r}: {type_of(value)!r}" for field, value in properties.items())
    return f"{name} = TypedDict({name!r}, {{{fields}}}, total={total})"


def parameter_types(document: dict[str, Any]) -> list[str]:
    """Returns the declarations of PARAMETERS, under the description of each parameter."""
    declarations = []
    for name, (path, parameter) in PARAMETERS.items():
        asked = document["paths"][path]["get"]["parameters"]
        (found,) = (each for each in asked if each["name"] == parameter)
        described = [f"#: {line}" for line in textwrap.wrap(found["description"], 100)]
        declarations.append("\n".join([*described, f"{name} = {_literal(found['schema']['enum'])}"]))
    return declarations


def module_of(document: dict[str, Any]) -> str:
    """Returns the module of all schemas of a document, and of some parameters, formatted."""
    schemas = document["components"]["schemas"]
    named = sorted((type_name(name), schema) for name, schema in schemas.items())
    parameters = "\n".join([HEADING, *parameter_types(document)])
    text = "\n\n\n".join([parameters, *(declaration(name, schema) for name, schema in named)]) + "\n"
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", TARGET, "-"]
    return subprocess.run(ruff, input=text, text=True, check=True, stdout=subprocess.PIPE).stdout


if __name__ == "__main__":
    TARGET.write_text(module_of(json.loads(Path(sys.argv[1]).read_text())))
