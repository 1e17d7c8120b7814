"""Names of query parameters that resemble a known one, or are another route's name for it."""

import difflib
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from itertools import islice
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
#: Unknown names of one request that are looked at: each takes some 20 µs, and an address may have thousands.
MAX_NAMES: Final = 20


def misspelt(
    given: Iterable[str], known: AbstractSet[str], mean: Callable[[str, AbstractSet[str]], str | None]
) -> tuple[str, str] | None:
    """Returns the first given name that is unknown and means a known one, and that one; None without any."""
    unknown = islice((name for name in given if name not in known), MAX_NAMES)
    pairs = ((name, mean(name, known)) for name in unknown)
    return next(((name, meant) for name, meant in pairs if meant is not None), None)


def meant_name(name: str, known: AbstractSet[str]) -> str | None:
    """Returns the known name that an unknown one stands for; None where it resembles none."""
    for names in _SIBLINGS:
        if name in names and names & known:
            return min(names & known)
    return near_name(name, known)


def near_name(name: str, known: AbstractSet[str]) -> str | None:
    """Returns the known name that an unknown one misspells; None where there is none."""
    if len(name) < _LEAST_LETTERS:
        return None
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=_LIKENESS)), None)
