"""Query parameters of the two routes of bars, and their validation."""

import re
from typing import Annotated, Final

from litestar.params import QueryParameter

from quotecast.errors import InvalidValue
from quotecast.market.bars import INTERVALS, Interval
from quotecast.market.ranges import (
    RANGES,
    Range,
    default_interval,
    intervals_of,
    parse_interval,
    parse_range,
)

STOCK_INTERVALS: Final[tuple[Interval, ...]] = ("1m", "5m", "15m", "1h", "4h", "D", "W", "M")
MAX_BARS: Final = 1000
DEFAULT_BARS: Final = "500"

_COUNT: Final = re.compile(r"[1-9][0-9]{0,3}")


def _choice(name: str, description: str, values: tuple[str, ...]) -> QueryParameter:
    return QueryParameter(name=name, description=description, schema_extra={"enum": [*values]})


Span = Annotated[str, _choice("range", "How far back, in any letter case", RANGES)]
StockInterval = Annotated[
    str | None,
    _choice(
        "interval",
        "Length of a bar, `1m` a minute, `M` a month; the default depends on the range",
        STOCK_INTERVALS,
    ),
]
Timeframe = Annotated[
    str,
    _choice(
        "timeframe",
        "Length of a bar: `1m` is a minute, `M` a month. `1Min`, `1Hour`, `1Day` and the like mean the same",
        INTERVALS,
    ),
]
Count = Annotated[
    str,
    QueryParameter(
        name="limit",
        description="How many bars at most, the newest",
        # A string to the framework, which would accept 1e2 as an integer.
        schema_extra={"type": "integer", "minimum": 1, "maximum": MAX_BARS, "default": int(DEFAULT_BARS)},
    ),
]


def range_and_interval(span: str, interval: str | None) -> tuple[Range, Interval]:
    """Returns range and interval of a request for stocks. Raises InvalidValue, also if they do not fit."""
    wanted = parse_range(span)
    if wanted is None:
        raise InvalidValue("range", f"One of {', '.join(RANGES)}")
    if interval is None:
        return wanted, default_interval(wanted)
    length = _require_interval("interval", interval, STOCK_INTERVALS)
    allowed = intervals_of(wanted, STOCK_INTERVALS)
    if length not in allowed:
        raise InvalidValue("interval", f"Too fine for {wanted}; one of {', '.join(allowed)}")
    return wanted, length


def timeframe_of(text: str) -> Interval:
    """Returns the interval of a timeframe. Raises InvalidValue."""
    return _require_interval("timeframe", text, INTERVALS)


def count_of(text: str) -> int:
    """Returns the number of bars that a request asks for. Raises InvalidValue."""
    if not _COUNT.fullmatch(text) or int(text) > MAX_BARS:
        raise InvalidValue("limit", f"A whole number from 1 to {MAX_BARS}")
    return int(text)


def _require_interval(field: str, text: str, offered: tuple[Interval, ...]) -> Interval:
    interval = parse_interval(text)
    if interval is None or interval not in offered:
        raise InvalidValue(field, f"One of {', '.join(offered)}")
    return interval
