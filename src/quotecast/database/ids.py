"""Ids of users and holdings: 24 hexadecimal digits that sort by time."""

import re
import secrets
from collections.abc import Callable
from typing import Final

from quotecast.errors import NotFound

ID_PATTERN: Final = re.compile("[0-9a-f]{24}")


def new_id(clock: Callable[[], float], random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """Returns a new id: Unix milliseconds in 12 digits, then 48 random bits. `clock` is Unix time."""
    return f"{int(clock() * 1000):012x}{random_bytes(6).hex()}"


def require_id(what: str, text: str) -> None:
    """Raises NotFound, which names what is missing, for a text that is not an id."""
    if not ID_PATTERN.fullmatch(text):
        raise NotFound(what)
