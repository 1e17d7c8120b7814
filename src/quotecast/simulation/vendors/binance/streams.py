"""Names of Binance's streams."""

import re
from typing import Final

from msgspec import Struct

from quotecast.simulation.vendors.binance.intervals import LENGTHS

_NAME: Final = re.compile(
    r"([^@]+)@(?:(ticker|miniTicker|bookTicker|trade|aggTrade)|(kline)_(\w+)"
    r"|(depth)(5|10|20)?(?:@(100|1000)ms)?)"
)
#: Streams of all symbols, and the kind of their elements.
ARRAYS: Final[dict[str, str]] = {"!ticker@arr": "ticker", "!miniTicker@arr": "miniTicker"}


class Stream(Struct, frozen=True):
    """A stream of one symbol; `option` is the interval of candles or the number of levels."""

    name: str
    symbol: str
    kind: str
    option: str = ""
    #: Milliseconds between two messages; 0 for one with each price.
    pause: int = 0


def stream_of(name: str) -> Stream | None:
    """Returns the stream of a name; None for a name that no stream has."""
    found = _NAME.fullmatch(name)
    if not found or found[1] != found[1].lower():
        return None
    symbol = found[1].upper()
    if found[3]:
        return Stream(name, symbol, "kline", found[4], 1000) if found[4] in LENGTHS else None
    if found[5]:
        return Stream(name, symbol, "depth", found[6] or "", int(found[7] or 1000))
    return Stream(name, symbol, found[2])
