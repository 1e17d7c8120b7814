"""Bars of US stocks from Alpaca."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import httpx
import structlog
from msgspec import Raw

from quotecast.errors import SymbolNotFound, UpstreamError, UpstreamRefused
from quotecast.market.bars import LENGTHS, Bar, Interval, opening
from quotecast.market.calendars import EXCHANGE, NEW_YORK_DAYS, Exchange
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.providers.alpaca import bar_rows, wire
from quotecast.providers.alpaca.rest import PLAN_REFUSES, Rest
from quotecast.providers.alpaca.rest_wire import BarPage
from quotecast.providers.alpaca.stretches import Stretch, Tape, delayed, whole
from quotecast.providers.base import Admission, unlimited
from quotecast.providers.refusals import RefusalCounter

ROWS_PER_PAGE: Final = 10_000
#: Five years of half hours are five full pages; but the upstream's pages may be shorter than asked for.
MAX_PAGES: Final = 50
#: For all pages together.
DEADLINE_SECONDS: Final = 60.0
#: The free plan has the whole tape once it is 15 minutes old; the clocks may differ by one.
SETTLED_AFTER: Final = timedelta(minutes=16)

_LONGEST: Final = timedelta(days=31)
_TICK: Final = timedelta(microseconds=1)

log = structlog.get_logger()


class AlpacaHistory:
    """Bars of US stocks in regular sessions, split-adjusted.

    Days are the upstream's own. On the free plan, `iex`, the last 16 minutes are missing: it has those of one
    exchange alone, whose volume is a few percent of the whole. Where the upstream refuses the whole tape for
    any time, all bars are that exchange's.
    """

    name = "alpaca"

    def __init__(
        self,
        url: str,
        key: str,
        secret: str,
        *,
        plan_feed: Tape,
        admitted: Admission = unlimited,
        calendar: Callable[[], Exchange] = lambda: EXCHANGE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._calendar = calendar
        self._rest = Rest(url, key, secret, admitted, clock)
        self._plan_feed = plan_feed
        self._clock = clock
        self._refused = RefusalCounter("alpaca")

    def statistics(self) -> Mapping[str, int]:
        """How many rows were refused since the start, by reason."""
        return self._refused.by_reason()

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider."""
        ticker = canonical(Feed.STOCKS, symbol)
        if ticker is None:
            raise SymbolNotFound
        now = datetime.fromtimestamp(self._clock(), UTC)
        end = min(end, now + _TICK)
        first = opening(NEW_YORK_DAYS, interval, start) or start
        if first >= end:
            return []
        # The last bar opens before the end, and goes on after it.
        reach = min(end + LENGTHS.get(interval, _LONGEST), now + _TICK)
        answers = await self._answers(ticker, interval, first, reach)
        # In a thread: of the longest histories, the event loop would wait for half a second and more.
        return await asyncio.to_thread(bar_rows.bars, answers, self._calendar(), interval, end, self._refused)

    async def _answers(
        self, ticker: str, interval: Interval, first: datetime, end: datetime
    ) -> bar_rows.Answers:
        try:
            async with asyncio.timeout(DEADLINE_SECONDS), self._rest.open() as client:
                answers = await self._best(client, ticker, interval, first, end)
                if not any(rows for _, rows in answers):
                    await self._check_known(client, ticker)
                return answers
        except TimeoutError as error:
            raise UpstreamError(f"Alpaca: no bars in {DEADLINE_SECONDS:g} s") from error
        except UpstreamRefused as error:
            if error.upstream_status == httpx.codes.BAD_REQUEST and wire.invalid_symbol(error.excerpt):
                raise SymbolNotFound from error
            raise

    async def _best(
        self, client: httpx.AsyncClient, ticker: str, interval: Interval, first: datetime, end: datetime
    ) -> bar_rows.Answers:
        """The rows of the whole tape as far as the plan has it."""
        settled = datetime.fromtimestamp(self._clock(), UTC) - SETTLED_AFTER
        if self._plan_feed == "iex":
            parts = delayed(self._calendar(), interval, first, end, settled)
        else:
            parts = whole("sip", interval, first, end)
        try:
            return await self._stretches(client, ticker, parts)
        except UpstreamRefused as error:
            if PLAN_REFUSES not in error.excerpt:
                raise
            log.warning("alpaca's plan has no whole tape", ticker=ticker, interval=interval)
            return await self._stretches(client, ticker, whole("iex", interval, first, end))

    async def _stretches(
        self, client: httpx.AsyncClient, ticker: str, parts: Sequence[Stretch]
    ) -> bar_rows.Answers:
        return [
            (part, [row async for page in self._pages(client, ticker, part) for row in page])
            for part in parts
        ]

    async def _pages(
        self, client: httpx.AsyncClient, ticker: str, part: Stretch
    ) -> AsyncIterator[Sequence[Raw]]:
        """Page by page; a short one is not the last."""
        params = part.parameters(ticker) | {"limit": str(ROWS_PER_PAGE)}
        for _ in range(MAX_PAGES):
            page = await self._rest.get(client, "/v2/stocks/bars", BarPage, params)
            yield page.rows_of(ticker)
            if not page.next_page_token:
                return
            params["page_token"] = page.next_page_token
        raise UpstreamError("Alpaca answers with more pages of bars than there can be")

    async def _check_known(self, client: httpx.AsyncClient, ticker: str) -> None:
        """Raises SymbolNotFound unless there is a snapshot: no bars are what any well-formed text has."""
        params = {"symbols": ticker}
        rows = await self._rest.get(client, "/v2/stocks/snapshots", dict[str, Raw], params)
        if bytes(rows.get(ticker, b"null")) == b"null":
            raise SymbolNotFound
