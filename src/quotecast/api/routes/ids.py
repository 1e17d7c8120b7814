"""Ids in paths and queries."""

from quotecast.database.ids import ID_PATTERN
from quotecast.errors import NotFound


def require_id(what: str, text: str) -> None:
    """Raises NotFound, which names what is missing, for a text that is no id."""
    if not ID_PATTERN.fullmatch(text):
        raise NotFound(what)
