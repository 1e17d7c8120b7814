"""Parameters of Finnhub's requests; each function raises WrongParameters for a missing or impossible one."""

from collections.abc import Mapping
from datetime import date
from typing import Final

from quotecast.simulation.vendors.finnhub.errors import WrongParameters

#: Days before and after all others would not fit into times of requests.
_FIRST: Final = date(1970, 1, 1)
_LAST: Final = date(2099, 12, 31)
_MOST_SECONDS: Final = 4_102_444_800


def text_of(query: Mapping[str, str], name: str) -> str:
    """Returns a text that is not empty."""
    text = query.get(name, "")
    if not text:
        raise WrongParameters
    return text


def number_of(query: Mapping[str, str], name: str, default: int | None = None) -> int:
    """Returns a whole number from 0 to the seconds of the year 2100."""
    if default is not None and not query.get(name):
        return default
    text = text_of(query, name)
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise WrongParameters
    return min(int(text), _MOST_SECONDS)


def day_of(query: Mapping[str, str], name: str) -> date:
    """Returns a date from 1970 to 2099."""
    try:
        day = date.fromisoformat(text_of(query, name))
    except ValueError as error:
        raise WrongParameters from error
    return min(max(day, _FIRST), _LAST)
