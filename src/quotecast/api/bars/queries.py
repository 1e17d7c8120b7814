"""Queries for a span of bars, and tokens of the pages that follow."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from quotecast.errors import InvalidValue
from quotecast.market.bars import Bar, Interval

Order = Literal["asc", "desc"]

ORDERS: Final[tuple[Order, ...]] = ("asc", "desc")
MAX_BARS: Final = 1000
DEFAULT_BARS: Final = 500
#: Longest spans of fine bars, in days: months, half a year and a year, with some days of grace.
MAX_DAYS: Final[Mapping[Interval, int]] = {"1m": 35, "5m": 190, "15m": 370, "30m": 370}

_DAY: Final = 86_400
#: Unix time of the year 2100.
_LATEST: Final = 4_102_444_800
#: A date, which as a number would be a day of 1970.
_DAY_AS_NUMBER: Final = re.compile(r"((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_SECONDS: Final = re.compile(r"[0-9]{1,10}")
_ISO: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
#: Version, interval, order, start, end: a version that changes the fields changes the first one.
_FIELDS: Final = re.compile(r"1\.(\w+)\.(asc|desc)\.([0-9]{0,10})\.([0-9]{0,10})")
_WHEN: Final = (
    "Must be a time from 1970 to 2099: ISO 8601 such as 2026-11-20T14:30:00Z, in UTC unless it says otherwise"
    " (write + as %2B), or Unix seconds"
)
_PAGE: Final = "Must be the X-Next-Page of an answer to the same query, with the same interval and order"


class BarQuery(Struct, frozen=True):
    """Bars that open in [start, end), Unix time in seconds; None leaves a side open."""

    interval: Interval
    start: int | None = None
    end: int | None = None
    limit: int = DEFAULT_BARS
    order: Order = "asc"


def opening_of(bar: Bar) -> int:
    """Returns the Unix time of a bar's opening."""
    return int(datetime.fromisoformat(bar.time).timestamp())


def parse_time(field: str, text: str) -> int:
    """Returns a time as Unix seconds, rounded up. Raises InvalidValue."""
    text = text.strip()
    if day := _DAY_AS_NUMBER.fullmatch(text):
        raise InvalidValue(field, f"Write {'-'.join(day.groups())}: a date has hyphens")
    try:
        seconds = int(text) if _SECONDS.fullmatch(text) else _iso_seconds(text)
    except (ValueError, OverflowError):
        raise InvalidValue(field, _WHEN) from None
    if not 0 <= seconds < _LATEST:
        raise InvalidValue(field, _WHEN)
    return seconds


def _iso_seconds(text: str) -> int:
    if not _ISO.fullmatch(text):
        raise ValueError(text)
    moment = datetime.fromisoformat(text)
    return ceil((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def check_span(query: BarQuery, now: float) -> BarQuery:
    """Returns the query, with a start if its interval needs one. Raises InvalidValue for a bad span."""
    if query.start is not None and query.start > now:
        raise InvalidValue("start", "Must not be in the future")
    end = now if query.end is None else min(now, query.end)
    if query.start is not None and query.end is not None and query.start >= query.end:
        raise InvalidValue("end", "Must be after start")
    days = MAX_DAYS.get(query.interval)
    if days is None:
        return query
    if query.start is None:
        # Ascending without a start is one page of the newest bars.
        return query if query.order == "asc" else replace(query, start=max(0, int(end) - days * _DAY))
    if end - query.start > days * _DAY:
        raise InvalidValue("end", f"Must be at most {days} days after start for bars of {query.interval}")
    return query


def token_of(query: BarQuery) -> str:
    """Returns the page token of a query: an opaque text for clients."""
    sides = ("" if side is None else str(side) for side in (query.start, query.end))
    return (
        urlsafe_b64encode(".".join(["1", query.interval, query.order, *sides]).encode()).decode().rstrip("=")
    )


def query_of_page(query: BarQuery, token: str) -> BarQuery:
    """Returns the query that continues at a token. Raises InvalidValue for a token of another query."""
    found = _FIELDS.fullmatch(_decoded(token))
    if not found or (found[1], found[2]) != (query.interval, query.order):
        raise InvalidValue("page", _PAGE)
    start, end = (None if side == "" else int(side) for side in found.group(3, 4))
    if max(start or 0, end or 0) >= _LATEST:
        raise InvalidValue("page", _PAGE)
    return replace(query, start=start, end=end)


def _decoded(token: str) -> str:
    if not _TOKEN.fullmatch(token):
        return ""
    try:
        return urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii")
    except (Error, UnicodeDecodeError):
        return ""
