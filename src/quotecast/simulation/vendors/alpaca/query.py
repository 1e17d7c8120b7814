"""Queries of Alpaca's REST API, and the pages that answer them: in the order of symbols, then of time."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.simulation.vendors.alpaca.errors import BadQuery
from quotecast.simulation.vendors.http import Row

FEEDS: Final = ("iex", "sip", "delayed_sip", "otc", "boats", "overnight")
_TICKER: Final = re.compile(r"[A-Z]{1,10}(\.[A-Z]+)?")
_PAIR: Final = re.compile(r"[A-Z0-9]{1,12}/[A-Z0-9]{2,6}")
_MOST_SYMBOLS: Final = 1000
#: Years that a time may have: arithmetic with others overflows.
_YEARS: Final = range(1900, 9000)
#: Bars, trades and quotes in a page.
DEFAULT_ROWS = 1000
MOST_ROWS = 10_000
DEFAULT_STORIES = 10
MOST_STORIES = 50


def tickers_of(query: Mapping[str, str], *, pairs: bool = False) -> list[str]:
    """Returns the symbols of a request, without duplicates."""
    if not query.get("symbols"):
        raise BadQuery("symbols is required")
    symbols = list(dict.fromkeys(query["symbols"].split(",")))
    if len(symbols) > _MOST_SYMBOLS:
        raise BadQuery("too many symbols")
    return [check_symbol(symbol, pairs=pairs) for symbol in symbols]


def check_symbol(symbol: str, *, pairs: bool = False) -> str:
    """Returns a symbol. Raises BadQuery for text that is none."""
    if not (_PAIR if pairs else _TICKER).fullmatch(symbol):
        raise BadQuery(f"invalid symbol: {symbol}")
    return symbol


def choice_of(query: Mapping[str, str], name: str, default: str, choices: tuple[str, ...]) -> str:
    """Returns a parameter that has a few values."""
    value = query.get(name, default)
    if value not in choices:
        raise BadQuery(f"invalid {name}: {value}")
    return value


def moment_of(query: Mapping[str, str], name: str, default: datetime) -> datetime:
    """Returns a time in UTC: a date, or RFC 3339."""
    try:
        moment = datetime.fromisoformat(query[name]) if name in query else default
    except ValueError as error:
        raise BadQuery(f"invalid {name}") from error
    if moment.year not in _YEARS:
        raise BadQuery(f"invalid {name}")
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def limit_of(query: Mapping[str, str], default: int, most: int) -> int:
    """Returns the number of rows that a page may have."""
    limit = query.get("limit", str(default))
    if not limit.isascii() or not limit.isdecimal() or len(limit) > 9 or not 1 <= int(limit) <= most:
        raise BadQuery("invalid limit")
    return int(limit)


class Span(Struct, frozen=True):
    """The time from `start` to `end`, both included; rows come from its end first with `descending`."""

    start: datetime
    end: datetime
    descending: bool = False


class Token(Struct, frozen=True):
    """The beginning of a page: the symbol, and the time of its first row."""

    symbol: str
    time: datetime

    def text(self) -> str:
        """Returns the token as clients see it."""
        return base64.urlsafe_b64encode(f"{self.symbol}|{self.time.isoformat()}".encode()).decode()


def token_of(query: Mapping[str, str]) -> Token | None:
    """Returns where a page begins; None for the first. A literal `null` is not a token."""
    text = query.get("page_token")
    if not text:
        return None
    try:
        symbol, _, time = base64.urlsafe_b64decode(text).decode().partition("|")
        moment = datetime.fromisoformat(time)
    except ValueError as error:
        raise BadQuery("invalid page_token") from error
    if moment.tzinfo is None or moment.year not in _YEARS:
        raise BadQuery("invalid page_token")
    return Token(symbol, moment)


def page_of(
    symbols: Sequence[str],
    rows_of: Callable[[str, Span], Iterator[Row]],
    span: Span,
    size: int,
    token: Token | None,
) -> tuple[dict[str, list[Row]], str | None]:
    """Returns the rows of a page by symbol, and the token of the next one.

    The first page may hold the first symbol alone.
    """
    found: dict[str, list[Row]] = {}
    count = 0
    for symbol in sorted(symbols):
        if token and symbol < token.symbol:
            continue
        wanted = span
        if token and symbol == token.symbol:
            wanted = replace(span, **{"end" if span.descending else "start": token.time})
        for row in rows_of(symbol, wanted):
            if count == size:
                return found, Token(symbol, time_of(row["t"])).text()
            found.setdefault(symbol, []).append(row)
            count += 1
    return found, None


def page_of_stories(
    stories: Sequence[Row], span: Span, query: Mapping[str, str]
) -> tuple[list[Row], str | None]:
    """Returns the stories of a page in the order of their last update, and the token of the next one."""
    size, token = limit_of(query, DEFAULT_STORIES, MOST_STORIES), token_of(query)

    def key(story: Row) -> tuple[datetime, str]:
        return time_of(story["updated_at"]), f"{story['id']:020}"

    found = sorted(
        (story for story in stories if span.start <= key(story)[0] <= span.end),
        key=key,
        reverse=span.descending,
    )
    if token:
        after = token.time, token.symbol
        found = [each for each in found if (key(each) <= after if span.descending else key(each) >= after)]
    if len(found) <= size:
        return found, None
    time, number = key(found[size])
    return found[:size], Token(number, time).text()


def time_of(value: str | datetime) -> datetime:
    """Returns the moment of a row."""
    return datetime.fromisoformat(value) if isinstance(value, str) else value
