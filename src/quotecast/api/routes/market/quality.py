"""The quality of a feed's data on one day: minutes with bars, gaps, staleness, ages and refused values."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final, Literal

import msgspec
from litestar import Router, get
from litestar.params import QueryParameter
from msgspec import Struct, field

from quotecast.api.answers.answers import Answer, SharedBody, cached_for, feed_answer
from quotecast.api.bars.market import calendar_of_venue
from quotecast.api.bars.own_bars import as_upstream
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.selection import renamed_headers
from quotecast.api.market.services import Services, require_mirror, series_of
from quotecast.api.prices.instruments import is_allowed
from quotecast.api.reference.openapi import SymbolReading, answered
from quotecast.api.route_table import EVERY
from quotecast.api.routes.days import day_of, day_parameter
from quotecast.api.routes.market.prices import GROUP
from quotecast.api.views.delayed import time_of_market
from quotecast.cache.base import WEEK_SECONDS, Policy
from quotecast.errors import InvalidValue, SymbolNotFound, UpstreamError
from quotecast.feed.mirror import Mirror
from quotecast.history.feed_days import KEEP_DAYS, FeedMinutes, StoredDay
from quotecast.market.codec import encode_json, iso_utc
from quotecast.market.feed_days import gaps
from quotecast.market.feeds import feed_named
from quotecast.market.own_bars import MINUTE

#: Gaps of one answer.
MAX_GAPS: Final = 100
#: Seconds from a minute's end until its bars are stored for certain, while PostgreSQL answers.
_WRITTEN_SECONDS: Final = 10
#: To count a million bars takes PostgreSQL a second: all readers share a count.
_COUNTS: Final = Policy(fresh_seconds=60, stale_seconds=3600)
#: A final bar never changes.
_SETTLED: Final = Policy(fresh_seconds=WEEK_SECONDS)
_VERSION: Final = 2

FeedParameter = Annotated[
    Literal["market", "stocks", "crypto", "doviz"],
    QueryParameter(
        name="feed",
        description="Feed: `stocks` is another name of `market`",
        schema_extra={"examples": ["market"]},
    ),
]
Symbol = Annotated[
    str | None,
    QueryParameter(
        name="symbol",
        description="Symbol of the feed in any case, whose gaps to answer; the whole feed without it",
        schema_extra={"examples": ["AAPL"]},
    ),
]
Day = Annotated[
    str | None,
    day_parameter("date", f"Date at the venue, of the last {KEEP_DAYS} days; today by default", "2026-11-20"),
]


class Gap(Struct, frozen=True, kw_only=True):
    """Minutes in a row without a bar."""

    start: str = field(name="from")
    end: str = field(name="to")
    minutes: int


class SymbolMinutes(Struct, frozen=True, kw_only=True, rename="camel"):
    """The minutes of a symbol that have a bar, and the gaps between them, in order."""

    symbol: str
    covered: int
    gap_count: int
    gaps: list[Gap]


class FeedDay(Struct, frozen=True, kw_only=True, rename="camel"):
    """The figures of a feed's day, summed over its ingests."""

    covered: int
    updates: int
    age_p50_ms: float | None
    age_p90_ms: float | None
    age_p99_ms: float | None
    stale_seconds: float
    led_seconds: float
    refused: dict[str, int]
    corrections: int
    written_at: str


class Quality(Struct, frozen=True, kw_only=True, rename="camel"):
    """The quality of one day; null where nothing is stored."""

    feed: str
    date: date
    opens_at: str | None
    until: str | None
    minutes: int
    symbol: SymbolMinutes | None
    symbols: FeedMinutes | None
    figures: FeedDay | None


FIGURES: Final = FeedDay(
    covered=390,
    updates=8_120_334,
    age_p50_ms=180.9,
    age_p90_ms=426.7,
    age_p99_ms=1216.0,
    stale_seconds=4.0,
    led_seconds=86_391.2,
    refused={"absurd": 3},
    corrections=12,
    written_at="2026-11-21T05:01:00.000Z",
)
_EXAMPLE: Final = Quality(
    feed="market",
    date=date(2026, 11, 20),
    opens_at="2026-11-20T14:30:00.000Z",
    until="2026-11-20T21:00:00.000Z",
    minutes=390,
    symbol=SymbolMinutes(
        symbol="AAPL",
        covered=388,
        gap_count=1,
        gaps=[Gap(start="2026-11-20T16:02:00.000Z", end="2026-11-20T16:04:00.000Z", minutes=2)],
    ),
    symbols=None,
    figures=FIGURES,
)


@get(
    "/",
    operation_id="getQuality",
    summary="Quality of a feed's data on one day",
    operation_class=SymbolReading,
    responses=answered(
        Quality, _EXAMPLE, "Minutes of the session, and figures of the day", 404, 422, 429, 503
    ),
    opt={"symbols": "list"},
)
@repeatable
async def quality(services: Services, feed: FeedParameter, symbol: Symbol = None, day: Day = None) -> Answer:
    """Minutes are those of the venue's session, up to now for today; the bars are the service's own.

    With `symbol` the answer has the symbol's gaps, else the symbols with the fewest minutes. `figures` are
    of the whole feed in both cases; delayed plans have those of days that are over.
    """
    named = feed_named(feed)
    assert named is not None, "the parameter allows no other"  # noqa: S101 - narrows the type
    mirror = require_mirror(services, named)
    entry = None if symbol is None else mirror.find(symbol)
    if symbol is not None and (entry is None or not is_allowed(services, named, entry)):
        raise SymbolNotFound
    today = today_at_venue(services, mirror)
    asked = today if day is None else _require_day(services, day, today)
    start, end = span_of(services, mirror, asked)
    # PostgreSQL drops bars by days in UTC; a day in Istanbul begins in the one before.
    has_minutes = asked > today - timedelta(days=services.feed_days.minute_days)
    of_symbol, of_symbols, fresh_seconds = None, None, _COUNTS.fresh_seconds
    if entry is not None and has_minutes:
        of_symbol = await _symbol_minutes(services, mirror, entry.key, start, end)
    elif has_minutes:
        try:
            end, of_symbols = await _counts(services, mirror, asked, start, end)
        except UpstreamError:
            fresh_seconds = 0
    series = series_of(mirror)
    # Today's figures would reveal the live market.
    is_shown = not services.delay_seconds or asked < today
    with as_upstream():
        days = await services.feed_days.read([series], asked, asked) if is_shown else {}
    stored = days.get((series, asked))
    found = Quality(
        feed=named.spec.name,
        date=asked,
        opens_at=iso_utc(start) if end > start else None,
        until=iso_utc(end) if end > start else None,
        minutes=(end - start) // MINUTE,
        symbol=of_symbol,
        symbols=of_symbols,
        figures=None if stored is None else feed_day_of(stored),
    )
    body = SharedBody(encode_json(found))
    renamed = renamed_headers(mirror, [] if entry is None or symbol is None else [(symbol, entry.key)])
    return feed_answer(body, mirror.state(services.monotonic()), cached_for(fresh_seconds), *renamed)


def today_at_venue(services: Services, mirror: Mirror) -> date:
    """Returns the date at a feed's venue, by the time of the market."""
    return next(mirror.feed.spec.always_open.until(time_of_market(services, mirror))).date


def span_of(services: Services, mirror: Mirror, day: date) -> tuple[int, int]:
    """Returns the session of a date, up to the last minute whose bars are stored, in Unix time.

    The span of a date without a session is empty.
    """
    session = calendar_of_venue(mirror).first_from(day)
    start = int(session.open.timestamp())
    if session.date != day:
        return start, start
    written = int(time_of_market(services, mirror).timestamp()) - _WRITTEN_SECONDS
    return start, max(start, min(int(session.close.timestamp()), written - written % MINUTE))


def _require_day(services: Services, text: str, today: date) -> date:
    """Returns the date of a request. Raises InvalidValue, and PastOutOfPlan before the client's past."""
    day, earliest = day_of("date", text), today - timedelta(days=KEEP_DAYS)
    if not earliest <= day <= today:
        raise InvalidValue("date", f"Must be from {earliest} to {today}")
    if services.reach is not None:
        services.reach.require(datetime.combine(day, time(), UTC).timestamp(), services.now())
    return day


async def _symbol_minutes(
    services: Services, mirror: Mirror, key: str, start: int, end: int
) -> SymbolMinutes:
    span = datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC)
    with as_upstream():
        stored = await services.stored_bars.read(series_of(mirror), [key], "1m", *span)
    opened = [bar.opened for bar in stored.get(key, ())]
    found = gaps(start, end, opened)
    shown = [
        Gap(start=iso_utc(first), end=iso_utc(last), minutes=(last - first) // MINUTE)
        for first, last in found[:MAX_GAPS]
    ]
    return SymbolMinutes(symbol=key, covered=len(opened), gap_count=len(found), gaps=shown)


async def _counts(
    services: Services, mirror: Mirror, day: date, start: int, end: int
) -> tuple[int, FeedMinutes]:
    """Returns the counts of a session's bars, and the Unix time up to which they are."""
    series, named = series_of(mirror), sorted(mirror.scope_of(services.only))
    only = [name for name in named if ":" not in name] if services.only else None
    span = datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC)
    # Bars wait at most a day for a database that is away.
    is_settled = day + timedelta(days=2) < today_at_venue(services, mirror)

    async def fetch() -> bytes:
        with as_upstream():
            found = await services.feed_days.count_minutes(series, *span, only)
        return msgspec.msgpack.encode((end, found))

    key = f"quality:{_VERSION}:{series}:{day}:{is_settled:d}:{','.join(services.only)}"
    cached = await services.cache.read(key, _SETTLED if is_settled else _COUNTS, fetch)
    return msgspec.msgpack.decode(cached.body, type=tuple[int, FeedMinutes])


def feed_day_of(stored: StoredDay) -> FeedDay:
    """Returns the figures of a stored day, for an answer."""
    figures = stored.figures
    return FeedDay(
        covered=figures.minutes,
        updates=figures.updates,
        age_p50_ms=figures.age(0.5),
        age_p90_ms=figures.age(0.9),
        age_p99_ms=figures.age(0.99),
        stale_seconds=round(figures.stale_seconds, 1),
        led_seconds=round(figures.led_seconds, 1),
        refused=figures.refused,
        corrections=figures.corrections,
        written_at=iso_utc(stored.written_at.timestamp()),
    )


ROUTER: Final = Router(
    "/api/quality",
    route_handlers=[quality],
    tags=["Quality"],
    opt={
        "tag": "Coverage, gaps, staleness, ages and refused values of each day's data.",
        "feed": EVERY,
        "door": "bars",
        "limit": GROUP,
    },
)
