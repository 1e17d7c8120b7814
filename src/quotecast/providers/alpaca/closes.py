"""Requests for the daily histories of all stocks: once a session, and again after a failure."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import compress
from typing import Final, Literal

import httpx
import structlog
from msgspec import Raw

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.market.bars import stamp
from quotecast.market.sessions import NEW_YORK, TradingDay
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.bar_requests import DAY
from quotecast.providers.alpaca.daily_history import DailyHistory, daily_history
from quotecast.providers.alpaca.day_bar import DayBar
from quotecast.providers.alpaca.rest import PLAN_REFUSAL, AlpacaRest
from quotecast.providers.alpaca.rest_wire import BarPage
from quotecast.providers.alpaca.stock_state import to_utc
from quotecast.providers.transport.backoff import delays
from quotecast.providers.validation.candles import to_bar
from quotecast.providers.validation.judgement import believable
from quotecast.providers.validation.rows import readable
from quotecast.providers.validation.values import instant

BATCH: Final = 100
#: Range of days requested; a stock halted for longer has no previous close.
REACH: Final = timedelta(days=14)
#: Age at which the free plan includes consolidated-tape trades: 15 minutes, plus one for clock skew.
SETTLED_AFTER: Final = timedelta(minutes=16)
#: Deadline in seconds, because a poll's quotes wait for the histories.
DEADLINE_SECONDS: Final = 7.0
ROWS_PER_PAGE: Final = 10_000
MAX_PAGES: Final = 20

log = structlog.get_logger()


class PreviousCloses:
    """Daily histories of stocks, across connections.

    The histories refresh when extended hours begin and again at the opening, in case Alpaca publishes a split
    of that morning late. On the free plan, `iex`, the session's own daily bar follows 16 minutes after the
    close, and again 16 minutes after extended hours end.
    """

    def __init__(
        self,
        rest: AlpacaRest,
        plan_feed: Literal["iex", "sip"],
        *,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.refused: Counter[str] = Counter()
        self._rest = rest
        self._free = plan_feed == "iex"
        #: Data feed of the daily bars; `iex` once Alpaca has rejected the consolidated tape for this plan.
        self._feed: Literal["iex", "sip"] = "sip"
        self._clock = clock
        self._chance = chance
        self._delays = delays(chance)
        self._retry_at = float("-inf")
        self._due_at: datetime | None = None
        self._answered: set[str] = set()

    async def refresh(self, tickers: Iterable[str], day: TradingDay) -> Mapping[str, DailyHistory]:
        """Returns the daily histories that are due on `day`, by ticker.

        The result is empty while all are fresh, and during the backoff after a failure.
        """
        now = self._clock()
        due_at = _due_at(day, to_utc(now), free=self._free)
        if due_at != self._due_at:
            self._due_at, self._answered, self._retry_at = due_at, set(), float("-inf")
            self._delays = delays(self._chance)
        missing = sorted({*tickers} - self._answered)
        if not missing or now < self._retry_at:
            return {}
        histories: dict[str, DailyHistory] = {}
        try:
            async with asyncio.timeout(DEADLINE_SECONDS), self._rest.open() as client:
                for first in range(0, len(missing), BATCH):
                    histories |= await self._fetch_batch(client, missing[first : first + BATCH], day, due_at)
        except (UpstreamError, TimeoutError) as error:
            self._retry_at = now + max(next(self._delays), getattr(error, "retry_after", None) or 0.0)
            log.warning("alpaca daily bars request failed", problem=str(error) or "timeout")
        self._answered |= histories.keys()
        return histories

    async def _fetch_batch(
        self, client: httpx.AsyncClient, tickers: Sequence[str], day: TradingDay, due_at: datetime
    ) -> Mapping[str, DailyHistory]:
        midnight = datetime.combine(day.date, datetime.min.time(), NEW_YORK)
        last = due_at - SETTLED_AFTER if due_at > day.close else midnight - timedelta(seconds=1)
        limits = {"start": stamp(midnight - REACH), "end": stamp(last)}
        adjusted = await self._fetch_days(client, tickers, limits | {"adjustment": "split"})
        raw = await self._fetch_days(client, tickers, limits | {"adjustment": "raw"})
        return {
            ticker: daily_history(day.date, _believable_days(adjusted.get(ticker, ())), raw.get(ticker, ()))
            for ticker in tickers
        }

    async def _fetch_days(
        self, client: httpx.AsyncClient, tickers: Sequence[str], params: Mapping[str, str]
    ) -> Mapping[str, Sequence[DayBar]]:
        """Returns the daily bars of each stock, ascending, from the best data feed of the plan."""
        try:
            return await self._fetch_pages(client, tickers, params)
        except UpstreamRefused as error:
            if PLAN_REFUSAL not in error.excerpt or self._feed == "iex":
                raise
            log.warning("alpaca plan excludes the consolidated tape; using iex", interval="D")
            self._feed = "iex"
            return await self._fetch_pages(client, tickers, params)

    async def _fetch_pages(
        self, client: httpx.AsyncClient, tickers: Sequence[str], params: Mapping[str, str]
    ) -> Mapping[str, Sequence[DayBar]]:
        """Returns the daily bars of each stock from all pages.

        A page may hold only some of the stocks, and only some days of its last one.
        """
        query = {
            "symbols": ",".join(tickers),
            "timeframe": DAY,
            "feed": self._feed,
            "sort": "asc",
            "limit": str(ROWS_PER_PAGE),
            **params,
        }
        days: dict[str, list[DayBar]] = {ticker: [] for ticker in tickers}
        for _ in range(MAX_PAGES):
            page = await self._rest.get(client, "/v2/stocks/bars", BarPage, query)
            for ticker in tickers:
                days[ticker] += _days_of(page.rows_of(ticker), self.refused)
            if not page.next_page_token:
                return days
            query["page_token"] = page.next_page_token
        raise UpstreamError(f"Alpaca sent more than {MAX_PAGES} pages of daily bars")


def _due_at(day: TradingDay, now: datetime, *, free: bool) -> datetime:
    """Returns the latest time at or before `now` at which the daily bars may have changed."""
    settling = [day.close + SETTLED_AFTER, day.post_close + SETTLED_AFTER] if free else []
    return max(moment for moment in (day.pre_open, day.open, *settling) if moment <= now)


def _days_of(rows: Iterable[Raw], refused: Counter[str]) -> list[DayBar]:
    """Returns the readable rows as daily bars; counts the others."""
    days = [_day(row) for row in readable(rows, wire.AlpacaBar, refused)]
    refused["unreadable"] += days.count(None)
    return [day for day in days if day]


def _day(row: wire.AlpacaBar) -> DayBar | None:
    start = instant(row.time)
    bar = to_bar(row, start) if start else None
    if start is None or bar is None:
        return None
    first, high, low, close, volume = (
        Decimal(str(value)) for value in (bar.open, bar.high, bar.low, bar.close, bar.volume)
    )
    return DayBar(start.astimezone(NEW_YORK).date(), first, high, low, close, volume, None, None)


def _believable_days(days: Sequence[DayBar]) -> Sequence[DayBar]:
    """Returns the daily bars with a plausible close, by the rule for bars."""
    return list(compress(days, believable([float(day.close or 0) for day in days])))
