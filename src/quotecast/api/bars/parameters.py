"""Query parameters of the routes of bars, and their validation."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.bars.queries import (
    DEFAULT_BARS,
    MAX_BARS,
    ORDERS,
    BarQuery,
    parse_time,
    query_of_page,
)
from quotecast.api.market.parameters import number_parameter, text_parameter
from quotecast.errors import InvalidValue
from quotecast.market.bars import INTERVALS, LENGTHS, Interval, opening_of_bar
from quotecast.market.calendars import Calendar
from quotecast.market.ranges import (
    RANGES,
    Range,
    default_interval,
    intervals_of,
    parse_interval,
    parse_range,
    start_of,
)

STOCK_INTERVALS: Final[tuple[Interval, ...]] = ("1m", "5m", "15m", "1h", "4h", "D", "W", "M")

_OWN: Final = "own"
_SESSIONS: Final = ("regular", "extended")
_COUNT: Final = re.compile(r"[1-9][0-9]{0,3}")

C = TypeVar("C", bound=str)

Span = Annotated[
    str | None,
    text_parameter(
        "range",
        "How far back from `end`, in any letter case; `1D` without `start` and `limit`",
        enum=[*RANGES],
        default="1D",
    ),
]
StockInterval = Annotated[
    str | None,
    text_parameter(
        "interval",
        "Length of a bar, `1m` a minute, `M` a month; the default depends on the range",
        enum=[*STOCK_INTERVALS],
    ),
]
StockTimeframe = Annotated[
    str | None, text_parameter("timeframe", "Another name of `interval`", enum=[*STOCK_INTERVALS])
]
Timeframe = Annotated[
    str | None,
    text_parameter(
        "timeframe",
        "Length of a bar: `1m` is a minute, `M` a month. `1Min`, `1Hour`, `1Day` and the like mean the same",
        enum=[*INTERVALS],
        default="1h",
    ),
]
AnyInterval = Annotated[
    str | None, text_parameter("interval", "Another name of `timeframe`", enum=[*INTERVALS])
]
Count = Annotated[
    str | None,
    number_parameter("limit", "How many bars at most", minimum=1, maximum=MAX_BARS, default=DEFAULT_BARS),
]
Start = Annotated[
    str | None,
    text_parameter(
        "start", "Bars that open from this time on: ISO 8601, in UTC without an offset, or Unix seconds"
    ),
]
End = Annotated[str | None, text_parameter("end", "Bars that open before this time; the present by default")]
Ordered = Annotated[
    str | None,
    text_parameter(
        "order",
        "`asc` has the oldest bar first, `desc` the newest",
        enum=[*ORDERS],
        default=ORDERS[0],
    ),
]
PageToken = Annotated[
    str | None, text_parameter("page", "`X-Next-Page` of the last answer to the same query")
]
Source = Annotated[
    str | None,
    text_parameter("source", "`own` asks for bars made from the service's own quotes only", enum=[_OWN]),
]
Session = Annotated[
    str | None,
    text_parameter(
        "session",
        "`extended` adds the hours before and after regular sessions",
        enum=[*_SESSIONS],
        default="regular",
    ),
]


class Length(NamedTuple):
    """The length of a bar as a request gives it, by either name; None where it gives none."""

    field: str
    text: str | None


class Paging(Struct, frozen=True):
    """Query parameters that all routes of bars have, unparsed; None where one is missing."""

    start: str | None = None
    end: str | None = None
    limit: str | None = None
    order: str | None = None
    page: str | None = None
    source: str | None = None

    def asks_for_page(self) -> bool:
        """Returns whether a query is for a page of bars, and not for the newest bars."""
        return any(each is not None for each in (self.start, self.end, self.order, self.page))

    def own_only(self) -> bool:
        """Returns whether a query is for own bars only. Raises InvalidValue."""
        if self.source is not None and self.source.strip().lower() != _OWN:
            raise InvalidValue("source", f"Must be {_OWN}, or absent")
        return self.source is not None

    def query(self, interval: Interval) -> BarQuery:
        """Returns the query. Raises InvalidValue."""
        query = BarQuery(
            interval,
            None if self.start is None else parse_time("start", self.start),
            None if self.end is None else parse_time("end", self.end),
            count_of(self.limit),
            _choice_of("order", self.order, ORDERS),
        )
        return query if self.page is None else query_of_page(query, self.page)


def _choice_of(field: str, text: str | None, choices: tuple[C, ...]) -> C:
    """Returns the choice that a text names in any case, by default the first. Raises InvalidValue."""
    folded = choices[0] if text is None else text.strip().lower()
    found = next((each for each in choices if each == folded), None)
    if found is None:
        raise InvalidValue(field, f"Must be one of {', '.join(choices)}")
    return found


def range_and_interval(span: str | None, given: Length) -> tuple[Range, Interval]:
    """Returns range and interval of a request for stocks. Raises InvalidValue, also if they do not fit."""
    wanted = parse_range("1D" if span is None else span)
    if wanted is None:
        raise InvalidValue("range", f"Must be one of {', '.join(RANGES)}")
    length = _interval_of(wanted, given)
    if given.text is None:
        return wanted, length
    allowed = intervals_of(wanted, STOCK_INTERVALS)
    if length not in allowed:
        raise InvalidValue(given.field, f"Is too fine for {wanted}; must be one of {', '.join(allowed)}")
    return wanted, length


class StockQuery(Struct, frozen=True):
    """A query for bars of stocks: those of a range, or those since a start."""

    query: BarQuery
    #: None with a start, or with a page.
    span: Range | None
    #: Whether the answer is a page, and not the whole range.
    is_page: bool
    own_only: bool
    #: Whether bars of extended hours are wanted.
    extended: bool = False

    @classmethod
    def of(cls, span: str | None, given: Length, paging: Paging, session: str | None = None) -> "StockQuery":
        """Returns the query of a request. Raises InvalidValue."""
        if paging.start is not None:
            if span is not None:
                raise InvalidValue("range", "Must not be given together with start")
            text = "D" if given.text is None else given.text
            query, wanted = paging.query(_require_interval(given.field, text, STOCK_INTERVALS)), None
        elif span is None and paging.limit is not None:
            # The newest bars, of however many sessions.
            query, wanted = paging.query(_interval_of("1D", given)), None
        else:
            wanted, length = range_and_interval(span, given)
            query = paging.query(length)
        is_page = paging.asks_for_page() or paging.limit is not None
        extended = _choice_of("session", session, _SESSIONS) == "extended"
        return cls(query, None if paging.page else wanted, is_page, paging.own_only(), extended)

    def start_of_range(self, calendar: Calendar, moment: datetime) -> datetime | None:
        """Returns the opening with which the range begins; None without a range."""
        if self.span is None:
            return None
        if self.query.end is not None:
            # A session that opens at the end has no bar before it, but the bar of a day opens at midnight.
            last = datetime.fromtimestamp(self.query.end - 1, UTC)
            following = calendar.first_from(next(calendar.until(last)).date + timedelta(days=1))
            if self.query.interval not in LENGTHS and following.midnight <= last:
                last = following.open
            moment = min(moment, last)
        return start_of(self.span, calendar, moment)

    def query_for(self, calendar: Calendar, moment: datetime) -> BarQuery:
        """Returns the query with the start of its range: the opening of the range's first bar."""
        start = self.start_of_range(calendar, moment)
        if start is None:
            return self.query
        first = opening_of_bar(calendar, self.query.interval, start) or start
        return replace(self.query, start=int(first.timestamp()))


def _interval_of(span: Range, given: Length) -> Interval:
    """Returns a given interval, or the default of a range. Raises InvalidValue."""
    if given.text is None:
        return default_interval(span)
    return _require_interval(given.field, given.text, STOCK_INTERVALS)


def one_length(interval: str | None, timeframe: str | None) -> Length:
    """Returns the length that a request gives by either name. Raises InvalidValue for two different ones."""
    if interval is not None and timeframe is not None and interval != timeframe:
        raise InvalidValue(
            "timeframe", "Must not be given together with interval, of which it is another name"
        )
    return Length("timeframe", timeframe) if interval is None else Length("interval", interval)


def timeframe_of(timeframe: str | None, interval: str | None) -> Interval:
    """Returns the interval that a request gives by either name, an hour without one. Raises InvalidValue."""
    field, text = one_length(interval, timeframe)
    return _require_interval(field, "1h" if text is None else text, INTERVALS)


def count_of(text: str | None) -> int:
    """Returns the number of bars that a request asks for. Raises InvalidValue."""
    if text is None:
        return DEFAULT_BARS
    if not _COUNT.fullmatch(text) or int(text) > MAX_BARS:
        raise InvalidValue("limit", f"Must be a whole number from 1 to {MAX_BARS}")
    return int(text)


def _require_interval(field: str, text: str, offered: tuple[Interval, ...]) -> Interval:
    interval = parse_interval(text)
    if interval is None or interval not in offered:
        raise InvalidValue(field, f"Must be one of {', '.join(offered)}")
    return interval
