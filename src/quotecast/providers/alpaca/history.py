"""Bars of US stocks from Alpaca's REST history."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import httpx
import structlog
from msgspec import Raw

from quotecast.errors import SymbolNotFound, UpstreamError, UpstreamRefused
from quotecast.market.bars import LENGTHS, Bar, Interval, opening_of_bar
from quotecast.market.calendars import EXCHANGE, NEW_YORK_DAYS, Exchange
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.providers.alpaca import bar_rows, wire
from quotecast.providers.alpaca.bar_rows import BarRequest, DataFeed, delayed_range, full_range
from quotecast.providers.alpaca.rest import PLAN_REFUSAL, AlpacaRest
from quotecast.providers.refusals import RefusalCounter

#: Five years of half hours fill five pages, but Alpaca may send shorter pages than requested.
MAX_PAGES: Final = 50
#: Deadline in seconds for all pages together.
DEADLINE_SECONDS: Final = 60.0
#: Age at which the free plan includes consolidated-tape trades: 15 minutes, plus one for clock skew.
SETTLED_AFTER: Final = timedelta(minutes=16)

_LONGEST: Final = timedelta(days=31)
_TICK: Final = timedelta(microseconds=1)

log = structlog.get_logger()


class AlpacaHistory:
    """Split-adjusted bars of US stocks in regular sessions, or in extended hours too.

    Daily bars are Alpaca's own. On the free plan, `iex`, the last 16 minutes are missing: for them it has
    trades of the IEX exchange only, a few percent of the volume. When Alpaca rejects consolidated-tape
    requests for any time range, all bars come from the IEX exchange.
    """

    name = "alpaca"

    def __init__(
        self, rest: AlpacaRest, *, plan_feed: DataFeed, calendar: Callable[[], Exchange] = lambda: EXCHANGE
    ) -> None:
        self._calendar = calendar
        self._rest = rest
        self._plan_feed = plan_feed
        self._refused = RefusalCounter("alpaca")

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider."""
        return await self._bars(self._calendar(), symbol, interval, start, end)

    async def extended_bars(
        self, symbol: str, interval: Interval, start: datetime, end: datetime
    ) -> Sequence[Bar]:
        """See ExtendedHistoryProvider."""
        return await self._bars(self._calendar().extended(), symbol, interval, start, end)

    async def _bars(
        self, calendar: Exchange, symbol: str, interval: Interval, start: datetime, end: datetime
    ) -> Sequence[Bar]:
        ticker = canonical_symbol(Feed.STOCKS, symbol)
        if ticker is None:
            raise SymbolNotFound
        now = datetime.fromtimestamp(self._rest.clock(), UTC)
        end = min(end, now + _TICK)
        first = opening_of_bar(NEW_YORK_DAYS, interval, start) or start
        if first >= end:
            return []
        # The last bar opens before `end` and may close after it.
        reach = min(end + LENGTHS.get(interval, _LONGEST), now + _TICK)
        answers = await self._fetch_rows(calendar, ticker, interval, first, reach)
        # A worker thread: the longest histories would block the event loop for half a second or more.
        return await asyncio.to_thread(bar_rows.bars, answers, calendar, interval, end, self._refused)

    async def _fetch_rows(
        self, calendar: Exchange, ticker: str, interval: Interval, first: datetime, end: datetime
    ) -> bar_rows.RowsByRequest:
        try:
            async with asyncio.timeout(DEADLINE_SECONDS), self._rest.open() as client:
                answers = await self._fetch_best_feed(client, ticker, interval, first, end, calendar=calendar)
                if not any(rows for _, rows in answers):
                    # Alpaca returns an empty list of bars for any well-formed symbol; an unknown one has no
                    # snapshot.
                    path = "/v2/stocks/snapshots"
                    known = await self._rest.get(client, path, dict[str, Raw], {"symbols": ticker})
                    if bytes(known.get(ticker, b"null")) == b"null":
                        raise SymbolNotFound
                return answers
        except TimeoutError as error:
            raise UpstreamError(f"Alpaca: no bars in {DEADLINE_SECONDS:g} s") from error
        except UpstreamRefused as error:
            if error.upstream_status == httpx.codes.BAD_REQUEST and wire.invalid_symbol(error.excerpt):
                raise SymbolNotFound from error
            raise

    async def _fetch_best_feed(
        self,
        client: httpx.AsyncClient,
        ticker: str,
        interval: Interval,
        first: datetime,
        end: datetime,
        *,
        calendar: Exchange,
    ) -> bar_rows.RowsByRequest:
        """Returns consolidated-tape rows as far as the plan includes them, or else the IEX exchange's."""
        settled = datetime.fromtimestamp(self._rest.clock(), UTC) - SETTLED_AFTER
        if self._plan_feed == "iex":
            parts = delayed_range(calendar, interval, first, end, settled)
        else:
            parts = full_range("sip", interval, first, end)
        try:
            return await self._fetch_requests(client, ticker, parts)
        except UpstreamRefused as error:
            if PLAN_REFUSAL not in error.excerpt:
                raise
            log.warning(
                "alpaca plan excludes the consolidated tape; using iex", ticker=ticker, interval=interval
            )
            return await self._fetch_requests(client, ticker, full_range("iex", interval, first, end))

    async def _fetch_requests(
        self, client: httpx.AsyncClient, ticker: str, parts: Sequence[BarRequest]
    ) -> bar_rows.RowsByRequest:
        answers = []
        for part in parts:
            pages = self._rest.bar_pages(client, part.parameters(ticker), MAX_PAGES)
            answers.append((part, [row async for page in pages for row in page.rows_of(ticker)]))
        return answers
