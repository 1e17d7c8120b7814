"""Asks for the last days of all stocks on the whole tape: once a session, and again after a failure."""

import asyncio
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import compress
from typing import Final, Literal

import httpx
import structlog
from msgspec import Raw

from quotecast.backoff import Backoff
from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.market.bars import stamp
from quotecast.market.sessions import NEW_YORK, TradingDay
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.day import Day
from quotecast.providers.alpaca.known import aware
from quotecast.providers.alpaca.rest import PLAN_REFUSES, Rest
from quotecast.providers.alpaca.rest_wire import BarPage
from quotecast.providers.alpaca.stretches import DAY
from quotecast.providers.alpaca.tape import Tape, tape_of
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import to_bar
from quotecast.providers.validation.judgement import judge_closes
from quotecast.providers.validation.rows import decode_rows
from quotecast.providers.validation.values import instant

BATCH: Final = 100
#: A stock whose trading was halted for longer has no previous close.
REACH: Final = timedelta(days=14)
#: The free plan has the whole tape once it is 15 minutes old; the clocks may differ by one.
SETTLED_AFTER: Final = timedelta(minutes=16)
#: Quotes wait for the answers that long.
DEADLINE_SECONDS: Final = 7.0
ROWS_PER_PAGE: Final = 10_000
MAX_PAGES: Final = 20

log = structlog.get_logger()


class Closes:
    """The tapes of stocks, over all connections.

    They are asked for as each session begins, before hours, and once more at its opening, in case a split of
    that morning came late. On the free plan, `iex`, a session's own day follows when it has settled, 16
    minutes after the close and again after the last of the after-hours trades.
    """

    def __init__(
        self,
        rest: Rest,
        plan_feed: Literal["iex", "sip"],
        *,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.refused = RefusalCounter("alpaca")
        self._rest = rest
        self._free = plan_feed == "iex"
        #: Of the daily bars; the free plan's own where it has no history of the whole tape.
        self._feed: Literal["iex", "sip"] = "sip"
        self._clock = clock
        self._backoff = Backoff(chance=chance)
        self._again_at = float("-inf")
        self._stage: datetime | None = None
        self._answered: set[str] = set()

    async def refresh(self, tickers: Iterable[str], day: TradingDay) -> Mapping[str, Tape]:
        """Returns the tapes that are due on `day`; none while they are fresh, or soon after a failure."""
        now = self._clock()
        stage = _stage(day, aware(now), free=self._free)
        if stage != self._stage:
            self._stage, self._answered, self._again_at = stage, set(), float("-inf")
            self._backoff.reset()
        missing = sorted({*tickers} - self._answered)
        if not missing or now < self._again_at:
            return {}
        found: dict[str, Tape] = {}
        try:
            async with asyncio.timeout(DEADLINE_SECONDS), self._rest.open() as client:
                for first in range(0, len(missing), BATCH):
                    found |= await self._batch(client, missing[first : first + BATCH], day, stage)
        except (UpstreamError, TimeoutError) as error:
            self._again_at = now + max(self._backoff.delay(), getattr(error, "retry_after", None) or 0.0)
            log.warning("alpaca answers without daily bars", problem=str(error) or "no answer in time")
        self._answered |= found.keys()
        return found

    async def _batch(
        self, client: httpx.AsyncClient, tickers: Sequence[str], day: TradingDay, stage: datetime
    ) -> Mapping[str, Tape]:
        midnight = datetime.combine(day.date, datetime.min.time(), NEW_YORK)
        last = stage - SETTLED_AFTER if stage > day.close else midnight - timedelta(seconds=1)
        limits = {"start": stamp(midnight - REACH), "end": stamp(last)}
        adjusted = await self._days(client, tickers, limits | {"adjustment": "split"})
        raw = await self._days(client, tickers, limits | {"adjustment": "raw"})
        return {
            ticker: tape_of(day.date, _believed(adjusted.get(ticker, ())), raw.get(ticker, ()))
            for ticker in tickers
        }

    async def _days(
        self, client: httpx.AsyncClient, tickers: Sequence[str], params: Mapping[str, str]
    ) -> Mapping[str, Sequence[Day]]:
        """Returns the days of each stock, ascending, from the best tape that the plan has."""
        try:
            return await self._all_pages(client, tickers, params)
        except UpstreamRefused as error:
            if PLAN_REFUSES not in error.excerpt or self._feed == "iex":
                raise
            log.warning("alpaca's plan has no whole tape", interval="D")
            self._feed = "iex"
            return await self._all_pages(client, tickers, params)

    async def _all_pages(
        self, client: httpx.AsyncClient, tickers: Sequence[str], params: Mapping[str, str]
    ) -> Mapping[str, Sequence[Day]]:
        """Reads page by page: a page may hold some of the stocks, and some days of the last of them."""
        asked = {
            "symbols": ",".join(tickers),
            "timeframe": DAY,
            "feed": self._feed,
            "sort": "asc",
            "limit": str(ROWS_PER_PAGE),
            **params,
        }
        days: dict[str, list[Day]] = {ticker: [] for ticker in tickers}
        for _ in range(MAX_PAGES):
            page = await self._rest.get(client, "/v2/stocks/bars", BarPage, asked)
            for ticker in tickers:
                days[ticker] += _days_of(page.rows_of(ticker), self.refused)
            if not page.next_page_token:
                return days
            asked["page_token"] = page.next_page_token
        raise UpstreamError("Alpaca answers with more pages of daily bars than there can be")


def _stage(day: TradingDay, now: datetime, *, free: bool) -> datetime:
    """Returns the newest moment at which the daily bars may have changed."""
    settling = [day.close + SETTLED_AFTER, day.post_close + SETTLED_AFTER] if free else []
    return max(moment for moment in (day.pre_open, day.open, *settling) if moment <= now)


def _days_of(rows: Iterable[Raw], refused: RefusalCounter) -> list[Day]:
    """Returns the rows that can be read."""
    days = [_day(row) for row in decode_rows(rows, wire.Bar, refused)]
    refused.count("unreadable", days.count(None))
    return [day for day in days if day]


def _day(row: wire.Bar) -> Day | None:
    begun = instant(row.time)
    bar = to_bar(row, begun) if begun else None
    if begun is None or bar is None:
        return None
    first, high, low, close, volume = (
        Decimal(str(value)) for value in (bar.open, bar.high, bar.low, bar.close, bar.volume)
    )
    return Day(begun.astimezone(NEW_YORK).date(), first, high, low, close, volume, None, None)


def _believed(days: Sequence[Day]) -> Sequence[Day]:
    """Returns the days whose closes can be believed, as bars have it."""
    return list(compress(days, judge_closes([float(day.close or 0) for day in days])))
