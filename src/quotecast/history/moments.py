"""Moments in commands and addresses: ISO 8601 with a time zone, or Unix seconds."""

import re
from datetime import datetime
from typing import Final

from quotecast.errors import InvalidValue

_SECONDS: Final = re.compile(r"\d{1,11}(\.\d{1,6})?", re.ASCII)
_MAX_LENGTH: Final = 40
_RULE: Final = "Must be ISO 8601 with a time zone, such as 2026-11-20T14:31:00Z, or Unix seconds"


def parse_moment(field: str, text: str) -> float:
    """Returns a moment as Unix time. Raises InvalidValue."""
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        # A plus sign in an address is a space.
        moment = datetime.fromisoformat(text.strip().replace(" ", "+")) if len(text) <= _MAX_LENGTH else None
        if moment is not None and moment.tzinfo is not None:
            return moment.timestamp()
    except (ValueError, OverflowError):
        pass
    raise InvalidValue(field, _RULE)
