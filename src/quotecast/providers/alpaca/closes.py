"""Requests for the daily histories of all stocks: as a session begins, and around its opening."""

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import compress
from typing import Final, Literal

import httpx
import structlog

from quotecast.backoff import Backoff
from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.market.bars import bar_time
from quotecast.market.numbers import instant
from quotecast.market.sessions import NEW_YORK, TradingDay
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.bar_rows import DAY
from quotecast.providers.alpaca.day_bar import DailyHistory, DayBar, daily_history
from quotecast.providers.alpaca.rest import PLAN_REFUSAL, AlpacaRest
from quotecast.providers.alpaca.stock_state import to_utc
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import to_bar
from quotecast.providers.validation.judgement import judge_closes
from quotecast.providers.validation.rows import decode_rows, readable

BATCH: Final = 100
#: Range of days requested; a stock halted for longer has no previous close.
REACH: Final = timedelta(days=14)
#: Age at which the free plan includes consolidated-tape trades: 15 minutes, plus one for clock skew.
SETTLED_AFTER: Final = timedelta(minutes=16)
#: Time between refreshes around the opening, because Alpaca may publish a split of that morning late.
#: Histories from IEX, too, are requested again from the consolidated tape after that time.
REFRESH_INTERVAL: Final = timedelta(minutes=15)
#: Time after the opening at which these refreshes end.
REFRESH_END: Final = timedelta(hours=1)
#: Deadline in seconds of each batch, because a poll's quotes wait for the histories.
DEADLINE_SECONDS: Final = 7.0
MAX_PAGES: Final = 20

log = structlog.get_logger()


class PreviousCloses:
    """Daily histories of stocks, across connections.

    The histories refresh when extended hours begin, and every 15 minutes from then until an hour after the
    opening, in case Alpaca publishes a split of that morning late. On the free plan, `iex`, the session's own
    daily bar follows 16 minutes after the close, and again 16 minutes after extended hours end.
    """

    def __init__(
        self,
        rest: AlpacaRest,
        plan_feed: Literal["iex", "sip"],
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.refused = RefusalCounter("alpaca")
        self._rest = rest
        self._free = plan_feed == "iex"
        self._backoff = Backoff(chance=chance)
        self._retry_at = float("-inf")
        self._due_at: datetime | None = None
        self._answered: set[str] = set()

    async def refresh(self, tickers: Iterable[str], day: TradingDay) -> Mapping[str, DailyHistory]:
        """Returns the daily histories that are due on `day`, by ticker.

        The result is empty while all are fresh, during the backoff after a failure, and for 15 minutes after
        histories from IEX.
        """
        now = self._rest.clock()
        due_at = _due_at(day, to_utc(now), free=self._free)
        if due_at != self._due_at:
            self._due_at, self._answered, self._retry_at = due_at, set(), float("-inf")
            self._backoff.reset()
        missing = sorted({*tickers} - self._answered)
        if not missing or now < self._retry_at:
            return {}
        batches = [missing[first : first + BATCH] for first in range(0, len(missing), BATCH)]
        async with self._rest.open() as client:
            results = await asyncio.gather(
                *(self._fetch_batch(client, each, day, due_at) for each in batches)
            )
        failures = [result for result in results if isinstance(result, UpstreamError)]
        if failures:
            longest = max(failures, key=lambda failure: failure.retry_after or 0.0)
            self._retry_at = now + max(self._backoff.delay(), longest.retry_after or 0.0)
            log.warning("alpaca daily bars request failed", problem=str(longest), batches=len(failures))
        elif not self._answered.issuperset(missing):
            self._retry_at = now + REFRESH_INTERVAL.total_seconds()
        answered = [result for result in results if not isinstance(result, UpstreamError)]
        return {ticker: history for batch in answered for ticker, history in batch.items()}

    async def _fetch_batch(
        self, client: httpx.AsyncClient, tickers: Sequence[str], day: TradingDay, due_at: datetime
    ) -> Mapping[str, DailyHistory] | UpstreamError:
        """Returns the histories of one batch, or its error, so that the other batches continue."""
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                histories, consolidated = await self._fetch_best_feed(client, tickers, day, due_at)
        except UpstreamError as error:
            return error
        except TimeoutError:
            return UpstreamError("timeout")
        if consolidated:
            self._answered |= histories.keys()
        return histories

    async def _fetch_best_feed(
        self, client: httpx.AsyncClient, tickers: Sequence[str], day: TradingDay, due_at: datetime
    ) -> tuple[Mapping[str, DailyHistory], bool]:
        """Returns the histories, and whether they come from the consolidated tape.

        Where the plan excludes the consolidated tape, they come from IEX.
        """
        midnight = datetime.combine(day.date, datetime.min.time(), NEW_YORK)
        last = due_at - SETTLED_AFTER if due_at > day.close else midnight - timedelta(seconds=1)
        limits = {"start": bar_time(midnight - REACH), "end": bar_time(last)}
        try:
            return await self._fetch_histories(client, tickers, day, limits | {"feed": "sip"}), True
        except UpstreamRefused as error:
            if PLAN_REFUSAL not in error.excerpt:
                raise
        log.warning("alpaca plan excludes the consolidated tape; using iex", interval="D")
        return await self._fetch_histories(client, tickers, day, limits | {"feed": "iex"}), False

    async def _fetch_histories(
        self, client: httpx.AsyncClient, tickers: Sequence[str], day: TradingDay, params: Mapping[str, str]
    ) -> Mapping[str, DailyHistory]:
        """Returns the daily histories from one data feed.

        Adjusted and unadjusted bars come from the same feed, because the closes of two feeds differ even
        without a split.
        """
        adjusted = await self._fetch_pages(client, tickers, {**params, "adjustment": "split"})
        raw = await self._fetch_pages(client, tickers, {**params, "adjustment": "raw"})
        histories: dict[str, DailyHistory] = {}
        for ticker in tickers:
            days = adjusted.get(ticker, ())
            # Daily closes pass the same check as the closes of bars.
            believable = compress(days, judge_closes([float(each.close or 0) for each in days]))
            histories[ticker] = daily_history(day.date, list(believable), raw.get(ticker, ()))
        return histories

    async def _fetch_pages(
        self, client: httpx.AsyncClient, tickers: Sequence[str], params: Mapping[str, str]
    ) -> Mapping[str, Sequence[DayBar]]:
        """Returns the daily bars of each stock from all pages.

        A page may hold only some of the stocks, and only some days of its last one.
        """
        query = {"symbols": ",".join(tickers), "timeframe": DAY, **params}
        days: dict[str, list[DayBar]] = {ticker: [] for ticker in tickers}
        async for page in self._rest.bar_pages(client, query, MAX_PAGES):
            for ticker in tickers:
                rows = decode_rows(page.rows_of(ticker), wire.AlpacaBar, self.refused)
                days[ticker] += readable(map(_day, rows), self.refused)
        return days


def _due_at(day: TradingDay, now: datetime, *, free: bool) -> datetime:
    """Returns the latest time at or before `now` at which the daily bars may have changed."""
    elapsed = min(now, day.open + REFRESH_END, day.close) - day.pre_open
    refresh = day.pre_open + elapsed // REFRESH_INTERVAL * REFRESH_INTERVAL
    settling = [day.close + SETTLED_AFTER, day.post_close + SETTLED_AFTER] if free else []
    return max(moment for moment in (refresh, *settling) if moment <= now)


def _day(row: wire.AlpacaBar) -> DayBar | None:
    start = instant(row.time)
    bar = to_bar(row, start)
    if start is None or bar is None:
        return None
    first, high, low, close, volume = (
        Decimal(str(value)) for value in (bar.open, bar.high, bar.low, bar.close, bar.volume)
    )
    return DayBar(start.astimezone(NEW_YORK).date(), first, high, low, close, volume, None, None)
