"""Ids of users and holdings: 24 hexadecimal digits, later ones greater."""

import re
import secrets
from collections.abc import Callable
from typing import Final

ID_PATTERN: Final = re.compile("[0-9a-f]{24}")


def new_id(clock: Callable[[], float], random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """Unix milliseconds in 12 digits, then 48 random bits."""
    return f"{int(clock() * 1000):012x}{random_bytes(6).hex()}"
