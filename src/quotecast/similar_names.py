"""Names of query parameters that resemble a known one, or are another route's name for it."""

import difflib
from typing import Final

#: Names of one thing on different routes, here and elsewhere.
_SIBLINGS: Final = (
    {"start", "from", "since"},
    {"end", "to", "until"},
    {"limit", "count", "countback"},
    {"interval", "timeframe", "resolution"},
    {"symbols", "symbol", "ticker", "tickers"},
)
#: Shorter names are of cache busters.
_LEAST_LETTERS: Final = 3
#: One or two letters off.
_LIKENESS: Final = 0.8


def meant_name(name: str, known: frozenset[str]) -> str | None:
    """Returns the known name that an unknown one stands for; None where it resembles none."""
    for names in _SIBLINGS:
        if name in names and names & known:
            return min(names & known)
    return near_name(name, known)


def near_name(name: str, known: frozenset[str]) -> str | None:
    """Returns the known name that an unknown one misspells; None where there is none."""
    if len(name) < _LEAST_LETTERS:
        return None
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=_LIKENESS)), None)
