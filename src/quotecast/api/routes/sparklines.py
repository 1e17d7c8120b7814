"""Sparklines: a few closes of the last day of many instruments, for lists."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Final

import msgspec
from litestar.params import QueryParameter
from msgspec import Struct

from quotecast.api.answers import Answer, SharedBody, feed_headers
from quotecast.api.bar_market import MAX_AGE, Market
from quotecast.api.own_bars import LIVE_POLICY, OWN, as_upstream, recent_bars
from quotecast.api.routes.bar_batches import markets_of, named_symbols
from quotecast.api.selection import AS_TEXT, MAX_SYMBOLS, missing_headers
from quotecast.api.services import Services
from quotecast.cache.base import Cached
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.bars import bar_time, opening_of_bar
from quotecast.market.calendars import Calendar, Exchange
from quotecast.market.feeds import Feed

MAX_CLOSES: Final = 50
#: Seconds for which the same answer is sent again.
_HELD_SECONDS: Final = 1.0
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
    """Returns the sparklines of the known symbols. Raises InvalidValue, ProviderMissing or UpstreamError."""
    markets, missing = markets_of(services, feed, named_symbols(symbols, MAX_SYMBOLS))
    mirror = services.mirrors[feed]
    stored: Mapping[str, Closes] = {}
    status = "HIT"
    if markets:
        day = _day_of(markets[0].calendar, max(market.moment for market in markets))
        cached = await _stored_closes(services, mirror, day)
        stored, status = _unpack(cached.body), cached.status
    body = SharedBody(
        codec.object_json(
            (market.symbol, codec.encode_json(_sparkline(mirror, market, day, stored.get(market.symbol, {}))))
            for market in markets
        )
    )
    state, until = mirror.state(services.monotonic()), services.monotonic() + _HELD_SECONDS
    headers = [
        *feed_headers(body.tag, state, b"public, max-age=%d" % MAX_AGE),
        *missing_headers(missing),
        (b"x-cache", status.encode()),
        (b"x-source", OWN.encode()),
        (b"age", b"0"),
    ]

    def is_current() -> bool:
        now = services.monotonic()
        return now < until and mirror.state(now) == state

    return Answer(body, headers, tag=headers[0][1], is_current=is_current)


def _day_of(calendar: Calendar, moment: datetime) -> Day:
    """Returns the latest session, or the last 24 hours where the venue never closes."""
    if isinstance(calendar, Exchange):
        return Day(next(calendar.until(moment)).open, _QUARTER)
    half_hour = timedelta(seconds=2 * _QUARTER)
    since = moment - timedelta(days=1) + half_hour
    return Day(since - timedelta(seconds=since.timestamp() % half_hour.total_seconds()), 2 * _QUARTER)


async def _stored_closes(services: Services, mirror: Mirror, day: Day) -> Cached:
    """Reads the closes of all symbols of a feed at once, so that no request causes a read of its own."""

    async def fetch() -> bytes:
        with as_upstream():
            found = await services.stored_bars.read(
                mirror.feed, [*mirror.quotes()], "15m", day.start, day.start + timedelta(days=2)
            )
        return _pack(
            {
                symbol: {_point(bar.opened, day.step): bar.close for bar in bars}
                for symbol, bars in found.items()
            }
        )

    key = f"{OWN}:sparklines{_VERSION}:{mirror.feed}:{day.start:%Y%m%dT%H%M}"
    return await services.cache.read(key, LIVE_POLICY, fetch)


def _sparkline(mirror: Mirror, market: Market, day: Day, stored: Closes) -> Sparkline:
    closes, start = dict(stored), int(day.start.timestamp())
    for bar in recent_bars(mirror, market.symbol, "15m"):
        if bar.opened >= start:
            closes[_point(bar.opened, day.step)] = bar.close
    opened = opening_of_bar(market.calendar, "15m", market.traded)
    newest = max(closes, default=0)
    if not closes or (opened is not None and _point(int(opened.timestamp()), day.step) >= newest):
        newest = _point(int((opened or market.traded).timestamp()), day.step)
        closes[newest] = market.price
    points = sorted(closes)[-MAX_CLOSES:]
    begin = bar_time(datetime.fromtimestamp(points[0], UTC))
    return Sparkline(begin, bar_time(market.traded), [closes[point] for point in points])


def _point(opened: int, step: int) -> int:
    return opened - opened % step
