"""Pages of Alpaca's lists: in the order of symbols, then of time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from quotecast.simulation.vendors.alpaca.query import Span, Token, limit_of, token_of
from quotecast.simulation.vendors.http import Row

#: Bars, trades and quotes in a page.
DEFAULT_ROWS = 1000
MOST_ROWS = 10_000
DEFAULT_STORIES = 10
MOST_STORIES = 50


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
        wanted = _rest_of(span, token.time) if token and symbol == token.symbol else span
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


def _rest_of(span: Span, time: datetime) -> Span:
    return replace(span, end=time) if span.descending else replace(span, start=time)
