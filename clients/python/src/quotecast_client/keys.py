"""API keys and tickets: how requests and sockets carry them; no I/O."""

from __future__ import annotations

import re
from urllib.parse import quote

_KEY = re.compile("[!-~]+")


def checked_key(key: str | None) -> str | None:
    """Returns an API key. Raises ValueError, without the text, for a text that no header can carry."""
    if key is not None and not _KEY.fullmatch(key):
        raise ValueError("the API key has a space, a line end or another character that no key has")
    return key


def key_headers(key: str | None) -> dict[str, str]:
    """Returns the header of an API key; none without a key."""
    return {} if key is None else {"X-API-Key": key}


def address_with(ticket: str, address: str) -> str:
    """Returns the address of a socket with a ticket, which opens it once."""
    return f"{address}{'&' if '?' in address else '?'}ticket={quote(ticket, safe='')}"
