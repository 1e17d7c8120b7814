"""Optional parameters of queries, declared as texts.

As an optional number the framework would take `null` for a missing one, and `1e2` for 100.
"""

import re
from typing import Any, Final

from litestar.params import QueryParameter

from quotecast.errors import InvalidValue

_DIGITS: Final = re.compile(r"\d{1,16}", re.ASCII)


def optional_schema(kind: str, **more: Any) -> dict[str, Any]:
    """Returns the schema of an optional parameter; by default the document would allow `null`."""
    return {"type": kind, "one_of": None, **more}


def text_parameter(name: str, description: str, **schema: Any) -> QueryParameter:
    """Returns an optional text, for `str | None`; `schema` has its `enum`, `default` or `examples`."""
    extra = optional_schema("string", **schema)
    return QueryParameter(name=name, description=description, schema_extra=extra)


def number_parameter(name: str, description: str, **schema: Any) -> QueryParameter:
    """Returns an optional whole number, for `str | None`."""
    extra = optional_schema("integer", **schema)
    return QueryParameter(name=name, description=description, schema_extra=extra)


def number_of(field: str, text: str | None, least: int, most: int) -> int | None:
    """Returns the number, or None without one. Raises InvalidValue."""
    if text is None:
        return None
    if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
        raise InvalidValue(field, f"Must be a whole number from {least} to {most}")
    return int(text)
