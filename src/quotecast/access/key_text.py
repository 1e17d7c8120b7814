"""The text of API keys and of tickets.

A key is `qc_live_<id>_<secret>`, a ticket `qc_ticket_<secret>`. The id names the key in lists and logs. The
secret has 256 random bits, so a plain digest of it is safe to store.
"""

import hashlib
import re
import secrets
from typing import Final, NamedTuple

PREFIX: Final = "qc_live_"
TICKET_PREFIX: Final = "qc_ticket_"

_SECRET_BYTES: Final = 32
_RANDOM: Final = "[A-Za-z0-9_-]{43}"
_KEY: Final = re.compile(f"{PREFIX}([0-9a-f]{{24}})_({_RANDOM})")
_TICKET: Final = re.compile(f"{TICKET_PREFIX}{_RANDOM}")


class KeyText(NamedTuple):
    """The two parts of a key's text."""

    id: str
    secret: str

    def __repr__(self) -> str:
        """Returns the id only: no log may hold the secret."""
        return f"KeyText(id={self.id!r})"


def new_secret() -> str:
    """Returns a random secret of 43 characters."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def key_text(key_id: str, secret: str) -> str:
    """Returns the text of a key."""
    return f"{PREFIX}{key_id}_{secret}"


def parse(text: str) -> KeyText | None:
    """Returns the parts of a key's text; None for any other text."""
    found = _KEY.fullmatch(text)
    return KeyText(found[1], found[2]) if found else None


def new_ticket() -> str:
    """Returns a random ticket."""
    return TICKET_PREFIX + new_secret()


def is_ticket(text: str) -> bool:
    """Whether a text has the form of a ticket."""
    return _TICKET.fullmatch(text) is not None


def digest(secret: str) -> str:
    """Returns the digest of a secret or a ticket, in which form it is stored: SHA-256 in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()
