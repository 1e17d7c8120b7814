"""Query parameters of the UDF routes, and their validation."""

import re
from math import floor
from typing import Annotated, Final

from litestar.params import QueryParameter

from quotecast.api.integrations.udf.history import MAX_BARS
from quotecast.api.integrations.udf.instruments import MAX_NAME, TYPES
from quotecast.api.integrations.udf.resolutions import RESOLUTIONS
from quotecast.api.market.parameters import number_parameter, text_parameter
from quotecast.api.market.selection import MAX_SYMBOLS
from quotecast.errors import InvalidValue
from quotecast.market.bars import Interval

MAX_QUERY: Final = 64
MAX_FOUND: Final = 50
#: Characters of a list of symbols.
_MAX_NAMES: Final = MAX_SYMBOLS * (MAX_NAME + 1)

#: The end of times that the service knows: the year 2100.
_LATEST: Final = 4_102_444_800
#: Charts compute times, so they may be negative, and have fractions.
_SECONDS: Final = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,20})?")
_COUNT: Final = re.compile(r"[0-9]{1,7}")
#: The short names of resolutions.
_SHORT: Final = {"D": "1D", "W": "1W", "M": "1M"}
_WHEN: Final = "Must be a Unix time in seconds"


Name = Annotated[
    str,
    QueryParameter(
        name="symbol",
        max_length=MAX_NAME,
        pattern=r"\S",
        description="The `ticker` of a symbol, or its exchange and symbol: `AAPL`, `NASDAQ:AAPL`, "
        "`BTC/USDT`, `DOVIZ:gram-altin`. In any letter case",
        schema_extra={"examples": ["AAPL"]},
    ),
]
Names = Annotated[
    str,
    QueryParameter(
        name="symbols",
        max_length=_MAX_NAMES,
        pattern=r"\S",
        description=f"Comma-separated names as in `symbol`, at most {MAX_SYMBOLS}",
        schema_extra={"examples": ["AAPL,BTC/USDT"]},
    ),
]
Text = Annotated[
    str,
    QueryParameter(
        name="query",
        max_length=MAX_QUERY,
        description="What the user typed: a symbol, a name or an alias. Nothing finds nothing",
        schema_extra={"examples": ["AAP"]},
    ),
]
Kind = Annotated[
    str,
    text_parameter(
        "type",
        "Only symbols of this type; empty for all types",
        examples=["stock"],
        enum=["", *TYPES],
        default="",
    ),
]
ExchangeName = Annotated[
    str,
    QueryParameter(
        name="exchange",
        max_length=MAX_NAME,
        description="Only symbols of this exchange, a `value` of the configuration; empty for all exchanges",
        schema_extra={"examples": ["NASDAQ"]},
    ),
]
Limit = Annotated[
    int,
    QueryParameter(
        ge=1, le=MAX_FOUND, description="How many symbols at most", schema_extra={"examples": [30]}
    ),
]
Resolution = Annotated[
    str,
    text_parameter(
        "resolution",
        "Length of a bar: minutes, or `1D`, `1W`, `1M`. `symbols` names those of a symbol",
        examples=["1D"],
        enum=[*RESOLUTIONS, "D", "W", "M"],
    ),
]
Start = Annotated[
    str | None,
    number_parameter(
        "from",
        "Unix time in seconds of the first bar; ignored with a `countback`, required without",
        examples=[1_795_100_000],
    ),
]
End = Annotated[
    str,
    number_parameter(
        "to", "Unix time in seconds before which the bars open, up to the present", examples=[1_795_188_600]
    ),
]
MarksStart = Annotated[
    str, number_parameter("from", "Unix time in seconds of the first bar", examples=[1_795_100_000])
]
MarksEnd = Annotated[
    str, number_parameter("to", "Unix time in seconds of the last bar", examples=[1_795_188_600])
]
CountBack = Annotated[
    str | None,
    number_parameter(
        "countback",
        f"How many bars before `to`; an answer has at most {MAX_BARS:,}",
        examples=[300],
        minimum=0,
        maximum=9_999_999,
    ),
]


def time_of(field: str, text: str) -> int:
    """Returns a Unix time, moved into the years from 1970 to 2099. Raises InvalidValue."""
    if not _SECONDS.fullmatch(text):
        raise InvalidValue(field, _WHEN)
    return max(0, min(floor(float(text)), _LATEST - 1))


def count_of(text: str | None) -> int | None:
    """Returns a number of bars; None for none. Raises InvalidValue."""
    if text is None:
        return None
    if not _COUNT.fullmatch(text):
        raise InvalidValue("countback", "Must be a whole number of at most seven digits")
    return int(text) or None


def interval_of(text: str, resolutions: list[str]) -> Interval:
    """Returns the interval of a resolution that an instrument has. Raises InvalidValue."""
    resolution = _SHORT.get(text, text)
    if resolution not in resolutions:
        raise InvalidValue("resolution", f"Must be one of {', '.join(resolutions)}")
    return RESOLUTIONS[resolution]


def kind_of(text: str) -> str:
    """Returns a type of symbols, or nothing for all types. Raises InvalidValue."""
    if text and text not in TYPES:
        raise InvalidValue("type", f"Must be one of {', '.join(TYPES)}, or nothing")
    return text
