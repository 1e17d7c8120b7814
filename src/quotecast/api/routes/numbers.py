"""Optional whole numbers in queries: strings to the framework, which would accept `null` and 1e2."""

import re
from typing import Final

from litestar.params import QueryParameter

from quotecast.errors import InvalidValue

_DIGITS: Final = re.compile(r"\d{1,16}", re.ASCII)


def number_parameter(description: str, least: int, most: int) -> QueryParameter:
    """Returns the parameter of an optional whole number, for `str | None`."""
    schema = {"type": "integer", "one_of": None, "minimum": least, "maximum": most}
    return QueryParameter(description=description, schema_extra=schema)


def number_of(field: str, text: str | None, least: int, most: int) -> int | None:
    """Returns the number, or None without one. Raises InvalidValue."""
    if text is None:
        return None
    if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
        raise InvalidValue(field, f"Must be a whole number from {least} to {most}")
    return int(text)
