"""Bars of every interval, computed from the tape, and the simulator as a provider of bars."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from itertools import groupby
from time import gmtime, strftime
from typing import Final

from msgspec.structs import replace

from quotecast.errors import SymbolNotFound
from quotecast.market.bars import Bar, Interval
from quotecast.market.feeds import Feed
from quotecast.market.reference import doviz_instruments, pairs
from quotecast.simulation.market.candles import HOUR, MINUTE, TickCandle, merge
from quotecast.simulation.market.hours import local_ordinal, midnight_of, milliseconds
from quotecast.simulation.market.invented import TABLE_STOCKS, listed_stocks
from quotecast.simulation.market.listings import Listing, markup_of
from quotecast.simulation.market.quoters import NAME
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.tape import Tape, TapeSource
from quotecast.simulation.market.venues import doviz_tapes, hours_of, pair_tapes, stock_tapes

_MILLISECONDS: Final[dict[str, int]] = {
    "1m": MINUTE,
    "5m": 5 * MINUTE,
    "15m": 15 * MINUTE,
    "30m": 30 * MINUTE,
    "1h": HOUR,
    "4h": 4 * HOUR,
}
#: Returns the first date of an interval that contains a date, both as ordinals.
_FIRST_DATE: Final[dict[str, Callable[[int], int]]] = {
    "D": lambda ordinal: ordinal,
    "W": lambda ordinal: ordinal - date.fromordinal(ordinal).weekday(),
    "M": lambda ordinal: date.fromordinal(ordinal).replace(day=1).toordinal(),
}
#: Time of the first trade: bitcoin first traded for US dollars in 2010.
_FIRST_TRADE: Final = milliseconds(datetime(2010, 1, 1, tzinfo=UTC))


def bars(tape: Tape, interval: Interval, start: int, end: int, markup: float = 1.0) -> Iterator[Bar]:
    """Returns the bars from the one that contains `start` to the one in progress at `end`, ascending.

    `start` and `end` are Unix milliseconds. The bar in progress covers trades up to `end`. Intraday bars
    align to local midnight; `D`, `W` and `M` start at local midnight of their first trading day. `markup`
    multiplies prices, as a bank does.
    """
    return (_bar(tape.listing, candle, markup) for candle in candles(tape, interval, start, end))


def candles(tape: Tape, interval: Interval, start: int, end: int) -> Iterator[TickCandle]:
    """Returns the candles of `bars`: times in Unix milliseconds, prices in ticks."""
    if size := _MILLISECONDS.get(interval):
        yield from tape.candles(size, start, end)
        return
    first_date, zone = _FIRST_DATE[interval], tape.hours.zone
    begin = midnight_of(first_date(local_ordinal(start, zone)), zone)
    for _, group in groupby(tape.days(begin, end), lambda day: first_date(day[0].ordinal)):
        days = list(group)
        yield replace(merge(candle for _, candle in days), start=days[0][0].midnight)


def _bar(listing: Listing, candle: TickCandle, markup: float) -> Bar:
    scale = listing.scale
    if markup != 1.0:
        marked = {name: round(getattr(candle, name) * markup) for name in ("open", "high", "low", "close")}
        candle = replace(candle, **marked)
    return Bar(
        # Formatting with gmtime takes a third of the time of a datetime, which matters for years of bars.
        time=strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(candle.start // 1000)),
        open=candle.open / scale,
        high=candle.high / scale,
        low=candle.low / scale,
        close=candle.close / scale,
        volume=candle.volume / listing.volume_scale,
    )


class SimulatorHistory:
    """Bars of every simulated instrument, consistent with the simulated quotes; those of doviz sell.

    They are a pure function of seed and time. Simulated time may run faster than any clock, and it started in
    another process, so the latest `end` counts as the present, in whose shares bars are.
    """

    name = NAME

    def __init__(
        self,
        feed: Feed,
        *,
        seed: int,
        always_open: bool,
        schedule: Schedule | None = None,
        stocks: int = TABLE_STOCKS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._schedule = schedule or Schedule()
        self._clock = clock
        hours = hours_of(feed, always_open=always_open)
        self._markups: dict[str, float] = {}
        self._tapes: dict[str, TapeSource]
        match feed:
            case Feed.STOCKS:
                self._tapes = stock_tapes(listed_stocks(stocks), seed, hours, schedule)
            case Feed.CRYPTO:
                self._tapes = pair_tapes(pairs(), seed, hours, schedule)
            case Feed.DOVIZ:
                self._tapes = doviz_tapes(doviz_instruments(), seed, hours, schedule)
                self._markups = {
                    each.symbol: 1.0 + markup_of(each, seed)
                    for each in doviz_instruments()
                    if each.underlying
                }
        self._present = 0
        # One thread: two would share the interpreter lock and finish no sooner, while delaying the event loop
        # further. A tape caches its last position and is not thread-safe.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"{feed} history")

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider; there are no bars before 2010."""
        tape = self._tapes.get(symbol)
        if tape is None:
            raise SymbolNotFound
        self._schedule.admit(int(self._clock() * 1000))
        self._present = max(self._present, milliseconds(end))
        # In a thread, because years of short bars take up to a second.
        loop = asyncio.get_running_loop()
        markup = self._markups.get(symbol, 1.0)
        present = tape.at(self._present)
        return await loop.run_in_executor(self._thread, _bars, present, interval, start, end, markup)


def _bars(tape: Tape, interval: Interval, start: datetime, end: datetime, markup: float) -> list[Bar]:
    # The bars exclude trades at `end`, so the tape ends one millisecond earlier.
    first, last = max(milliseconds(start), _FIRST_TRADE), milliseconds(end) - 1
    return list(bars(tape, interval, first, last, markup)) if first <= last else []
