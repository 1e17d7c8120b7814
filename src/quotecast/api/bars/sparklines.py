"""Sparklines: a few closes of the last day of many instruments, for lists."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Final

import msgspec
from litestar.params import QueryParameter
from msgspec import Struct

from quotecast.api.answers.answers import Answer, SharedBody, cached_for, feed_answer
from quotecast.api.bars.batches import named_symbols
from quotecast.api.bars.market import MAX_AGE, calendar_of_venue
from quotecast.api.bars.own_bars import LIVE_POLICY, as_upstream, recent_bars
from quotecast.api.bars.sources import OWN
from quotecast.api.market.selection import AS_TEXT, MAX_SYMBOLS, missing_headers, renamed_headers
from quotecast.api.market.services import Services, require_mirror, series_of
from quotecast.errors import UpstreamError
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.bars import bar_time
from quotecast.market.calendars import Calendar, Exchange
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote

MAX_CLOSES: Final = 50
#: Seconds for which a sparkline stays encoded.
_HELD_SECONDS: Final = 3.0
#: Sparklines to make before other requests get a turn: about a millisecond.
_TURN: Final = 25
_QUARTER: Final = 900
_VERSION: Final = 1

SparklineSymbols = Annotated[
    list[str],
    QueryParameter(
        name="symbols",
        description=f"Comma-separated symbols in any case, at most {MAX_SYMBOLS}; may be repeated",
        schema_extra=AS_TEXT,
    ),
]

#: Closes by the Unix time of their point.
Closes = dict[int, float]


class Sparkline(Struct, frozen=True):
    """Closes at equal distances of trading time, at most 50; the last one is the price at `end`."""

    start: str
    end: str
    closes: list[float]


class Day(Struct, frozen=True):
    """The last day of a feed: from its start on, and the seconds from one point to the next."""

    start: datetime
    step: int


_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = lru_cache(maxsize=8)(msgspec.msgpack.Decoder(dict[str, Closes]).decode)


async def sparklines_answer(services: Services, feed: Feed, symbols: Sequence[str]) -> Answer:
    """Returns the sparklines of the known symbols. Raises InvalidValue, ProviderMissing or NoData."""
    names, mirror = named_symbols(symbols, MAX_SYMBOLS), require_mirror(services, feed)
    named = mirror.entries_named(names)
    found = {entry.key: entry for entry in named.values() if entry}
    missing = [name for name, entry in named.items() if not entry]
    lines: list[tuple[str, bytes]] = []
    status = "HIT"
    if found:
        day = _day_of(calendar_of_venue(mirror), _moment(services, mirror, found.values()))
        stored, status = await _stored_closes(services, mirror, day)
        for number, (key, entry) in enumerate(found.items()):
            if entry.quote is not None:  # it may go in the meantime
                lines.append((key, _encoded(services, mirror, entry.quote, day, stored.get(key, {}))))
            if number % _TURN == 0:
                await asyncio.sleep(0)  # other requests and the feeds get a turn
    state = mirror.state(services.monotonic())
    body = SharedBody(codec.object_json(lines))
    return feed_answer(
        body,
        state,
        cached_for(MAX_AGE),
        *missing_headers(missing),
        *renamed_headers(mirror, ((name, entry.key) for name, entry in named.items() if entry)),
        (b"x-cache", status.encode()),
        (b"x-source", OWN.encode()),
        (b"age", b"0"),
    )


def _moment(services: Services, mirror: Mirror, entries: Iterable[QuoteEntry]) -> datetime:
    """Returns the feed's time; that of a simulated or recorded feed is its newest quote's."""
    now = services.moment()
    if mirror.info is None or not mirror.info.simulated:
        return now
    times = [entry.quote.timestamp for entry in entries if entry.quote is not None and entry.quote.timestamp]
    return datetime.fromisoformat(max(times)) if times else now


def _encoded(services: Services, mirror: Mirror, quote: Quote, day: Day, stored: Closes) -> bytes:
    """Returns an encoded sparkline, made at most every few seconds."""
    now, place = services.monotonic(), (mirror.feed, quote.key)
    made = services.sparklines.get(place)
    if made is not None and now - made[0] < _HELD_SECONDS:
        return made[1]
    traded = datetime.fromisoformat(quote.timestamp) if quote.timestamp else day.start
    closes, start = dict(stored), int(day.start.timestamp())
    for bar in recent_bars(mirror, quote.key, "15m"):
        if bar.opened >= start:
            closes[_point(bar.opened, day.step)] = bar.close
    newest = max(closes, default=_point(int(traded.timestamp()), day.step))
    closes[newest] = quote.price
    points = sorted(closes)[-MAX_CLOSES:]
    begin = bar_time(datetime.fromtimestamp(points[0], UTC))
    encoded = codec.encode_json(Sparkline(begin, bar_time(traded), [closes[point] for point in points]))
    services.sparklines[place] = now, encoded
    return encoded


def _day_of(calendar: Calendar, moment: datetime) -> Day:
    """Returns the latest session, or the last 24 hours where the venue never closes."""
    if isinstance(calendar, Exchange):
        return Day(next(calendar.until(moment)).open, _QUARTER)
    half_hour = timedelta(seconds=2 * _QUARTER)
    since = moment - timedelta(days=1) + half_hour
    return Day(since - timedelta(seconds=since.timestamp() % half_hour.total_seconds()), 2 * _QUARTER)


async def _stored_closes(services: Services, mirror: Mirror, day: Day) -> tuple[dict[str, Closes], str]:
    """Returns the closes of all symbols of a feed, and how the cache answered.

    One read has all symbols, so that no request causes a read of its own.
    """
    series = series_of(mirror)

    async def fetch() -> bytes:
        with as_upstream():
            found = await services.stored_bars.read(
                series, [*mirror.quotes()], "15m", day.start, day.start + timedelta(days=2)
            )
        return _pack(
            {
                symbol: {_point(bar.opened, day.step): bar.close for bar in bars}
                for symbol, bars in found.items()
            }
        )

    key = f"{OWN}:sparklines{_VERSION}:{series}:{day.start:%Y%m%dT%H%M}"
    try:
        cached = await services.cache.read(key, LIVE_POLICY, fetch)
    except UpstreamError:
        return {}, "STALE"  # the mirror has the newest closes
    return _unpack(cached.body), cached.status


def _point(opened: int, step: int) -> int:
    return opened - opened % step
