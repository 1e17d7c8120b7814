"""Sources of bars: the upstream of the price, read through the cache."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from quotecast.api.answers.answers import Status
from quotecast.api.bars.market import RESTING_SECONDS, Market, tail_with_price
from quotecast.api.market.services import Services, series_of
from quotecast.background import in_background
from quotecast.cache.base import Policy
from quotecast.errors import ProviderMissing
from quotecast.history.known_bars import Series
from quotecast.market.bar_windows import BarWindow
from quotecast.market.bars import Bar, Interval, bar_time, opening_of_bar
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.providers.base import ExtendedHistoryProvider, HistoryProvider
from quotecast.providers.quotecast.history import OriginHistory

#: Seconds for which a cached history is fresh; the last bar always closes with the current quote.
FRESH: Final[dict[Interval, int]] = {
    "1m": 5,
    "5m": 5,
    "15m": 10,
    "30m": 10,
    "1h": 15,
    "4h": 30,
    "D": 30,
    "W": 60,
    "M": 60,
}
#: A stale history may be served for this multiple of its fresh time: an hour for `1m`, half a day for `M`.
_STALE: Final = 720
#: Seconds for which a window of the past is fresh, and may be served stale. It is read again on each trading
#: day: a split changes all prices before it.
PAST_SECONDS: Final = 3600
_PAST_STALE_SECONDS: Final = 86_400
#: The time after its end at which a window is past: late trades may still change its last bars.
SETTLED_AFTER: Final = timedelta(hours=1)
#: The resolution of timestamps in quotes.
TICK: Final = timedelta(milliseconds=1)
#: Version of the cached format, in the cache key: a worker never reads another version's entries.
_VERSION: Final = 1
#: The `X-Source` of bars made from our own quotes, and the provider of bars of a followed feed.
OWN: Final = "own"
ORIGIN: Final = OriginHistory.name
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_decode: Final = msgspec.json.Decoder(list[Bar]).decode


class HistoryPart(Struct, frozen=True):
    """The bars of one window, ascending, and how the cache answered.

    `past` bars do not change any more. Without `history` there is at most the bar of the current price.
    """

    bars: Sequence[Bar]
    status: Status
    age_seconds: int
    past: bool
    history: bool


class Source(Protocol):
    """Bars of one instrument by windows."""

    #: The `X-Source` of answers.
    name: str
    #: The time after which a bar does not change any more.
    settled_after: timedelta

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """Returns the bars of a window. Raises SymbolNotFound, NotOffered or UpstreamError."""
        ...


class Upstream:
    """The upstream of an instrument's price: a candle is of one venue, so no other upstream's bars fit.

    Raises ProviderMissing if that upstream offers no bars.
    """

    settled_after = SETTLED_AFTER

    def __init__(self, services: Services, market: Market) -> None:
        self._history = history_of(services, market)
        self._services = services
        self._admitted = services.past_reads(market.provider)
        self._market = market
        self.name = OWN if market.feed is Feed.DOVIZ else market.provider

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source; the last bar closes with the current price."""
        market, past = self._market, is_past(window, self._market)
        end = min(window.end, market.moment + TICK)

        async def fetch() -> bytes:
            if past:
                await self._admitted()
            history, start = self._history, max(window.start, EPOCH)
            if market.is_extended and isinstance(history, ExtendedHistoryProvider):
                bars = await history.extended_bars(market.symbol, interval, start, end)
            else:
                bars = await history.bars(market.symbol, interval, start, end)
            note_days(self._services, market, interval, bars)
            return await asyncio.to_thread(encode_json, bars)

        hours = ":extended" if market.is_extended else ""
        key = window_key(market.provider, f"{market.symbol}:{interval}{hours}", window, market)
        policy = PAST_POLICY if past else policy_of(market, interval)
        cached = await self._services.cache.read(key, policy, fetch)
        bars = _decode(cached.body)
        history = bool(bars)
        opened = opening_of_bar(market.calendar, interval, market.traded)
        if opened and window.start <= opened < window.end:
            bars[-1:] = tail_with_price(bars[-1] if bars else None, market, interval, window.start)
            past = False
        return HistoryPart(bars, cached.status, cached.age_seconds, past, history)


def midnight_of(market: Market) -> str:
    """Returns the opening of the day of a market's moment: days before it have ended."""
    return bar_time(next(market.feed.spec.always_open.until(market.moment)).midnight)


def note_days(services: Services, market: Market, interval: Interval, bars: Sequence[Bar]) -> None:
    """Stores the days that an upstream has just answered, but for the one in progress."""
    today = midnight_of(market)
    ended = [bar for bar in bars if bar.time < today] if interval == "D" else []
    if ended:
        series = Series(series_of(services.mirrors[market.feed]), market.symbol, market.provider)
        now = services.wall_time()
        in_background(services.known_bars.record(series, ended, now))


def history_of(services: Services, market: Market) -> HistoryProvider:
    """Returns the bars of the provider of the price: an origin has those of all its providers.

    Raises ProviderMissing.
    """
    offered = services.history.get(market.feed)
    if not offered:
        raise ProviderMissing(f"bars of {market.feed}")
    history = offered.get(market.provider) or offered.get(ORIGIN)
    if history is None:
        raise ProviderMissing(f"bars of {market.provider}")
    return history


def policy_of(market: Market, interval: Interval) -> Policy:
    """Returns the lifetimes of a history that reaches the present."""
    fresh = RESTING_SECONDS if market.resting else FRESH[interval]
    return Policy(fresh_seconds=fresh, stale_seconds=FRESH[interval] * _STALE)


PAST_POLICY: Final = Policy(fresh_seconds=PAST_SECONDS, stale_seconds=_PAST_STALE_SECONDS)


def is_past(window: BarWindow, market: Market) -> bool:
    """Returns whether the bars of a window do not change any more."""
    return window.end + SETTLED_AFTER <= market.moment


def window_key(source: str, series: str, window: BarWindow, market: Market) -> str:
    """Returns the cache key of a window; one of the past is another one on each trading day."""
    day = next(market.calendar.until(market.moment)).date
    age = f"{day:%Y%m%d}" if is_past(window, market) else "now"
    return f"{source}:windows{_VERSION}:{series}:{window.first:%Y%m%d}:{age}"
