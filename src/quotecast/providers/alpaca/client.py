"""Quotes of US stocks from Alpaca: REST polls of every stock, WebSocket updates between two polls."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final, Literal

import httpx
import structlog
from msgspec import Raw, Struct

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote
from quotecast.market.reference import Stock
from quotecast.market.sessions import Unscheduled
from quotecast.merging import merge_streams
from quotecast.providers.alpaca import schedule, wire
from quotecast.providers.alpaca.board import Board
from quotecast.providers.alpaca.closes import PreviousCloses
from quotecast.providers.alpaca.rest import KEYS_REFUSED, AlpacaRest
from quotecast.providers.alpaca.rest_wire import MarketClock
from quotecast.providers.alpaca.schedule import unscheduled_day
from quotecast.providers.alpaca.stock_state import latest_session, to_utc
from quotecast.providers.alpaca.stream import Stream
from quotecast.providers.base import Admission, Update
from quotecast.providers.transport.fetch import get_json

#: Symbols whose trades the free plan streams.
MAX_STREAMED: Final = 30
#: Deadline in seconds for the exchange's clock: the call runs beside a poll and must not delay the next one.
CLOCK_SECONDS: Final = 5.0
#: Minimum pause in seconds after a poll, so that slow polls do not follow each other without a break.
MIN_PAUSE_SECONDS: Final = 1.0
#: Stocks of one request for snapshots.
BATCH: Final = 100
#: Deadline in seconds of such a request; a later response would delay the next poll.
ANSWER_SECONDS: Final = 7.0

SnapshotRows = Mapping[str, Raw]

log = structlog.get_logger()


class PollResult(Struct, frozen=True):
    """The result of a poll: rows of the successful batches by ticker, and the errors of the others."""

    rows: SnapshotRows
    failures: Sequence[UpstreamError]
    #: Whether any batch succeeded.
    answered: bool

    @property
    def retry_after(self) -> float:
        """Returns the longest `retry_after` of the failures in seconds; 0 without one."""
        return max((failure.retry_after or 0.0 for failure in self.failures), default=0.0)

    @property
    def worst_failure(self) -> UpstreamError:
        """Returns the failure with the longest `retry_after`."""
        return max(self.failures, key=lambda failure: failure.retry_after or 0.0)


class Snapshots:
    """Snapshot requests over one HTTP client.

    They are batches of stocks, in which an invalid ticker does not affect the others.
    """

    def __init__(self, client: httpx.AsyncClient, plan_feed: str, admitted: Admission) -> None:
        self._client = client
        self._feed = plan_feed
        self._admitted = admitted
        self._invalid: set[str] = set()

    async def poll(self, tickers: Sequence[str]) -> PollResult:
        """Returns the snapshots of all tickers, requested in concurrent batches."""
        batches = [tickers[first : first + BATCH] for first in range(0, len(tickers), BATCH)]
        answers = await asyncio.gather(*map(self._try_batch, batches))
        failures = [answer for answer in answers if isinstance(answer, UpstreamError)]
        answered = [answer for answer in answers if not isinstance(answer, UpstreamError)]
        rows = {ticker: row for part in answered for ticker, row in part.items() if bytes(row) != b"null"}
        return PollResult(rows, failures, bool(answered) or not failures)

    async def _try_batch(self, tickers: Sequence[str]) -> SnapshotRows | UpstreamError:
        try:
            return await self._fetch([ticker for ticker in tickers if ticker not in self._invalid])
        except UpstreamError as error:
            return error

    async def _fetch(self, tickers: Sequence[str]) -> SnapshotRows:
        if not tickers:
            return {}
        await self._admitted()
        params = {"symbols": ",".join(tickers), "feed": self._feed}
        try:
            return await get_json(
                self._client,
                "/v2/stocks/snapshots",
                dict[str, Raw],
                params=params,
                deadline_seconds=ANSWER_SECONDS,
            )
        except UpstreamRefused as error:
            return await self._fetch_without_invalid(tickers, error)

    async def _fetch_without_invalid(self, tickers: Sequence[str], error: UpstreamRefused) -> SnapshotRows:
        """Returns the batch's snapshots after excluding the malformed ticker.

        Alpaca rejects a whole batch for one malformed ticker. When the error does not name it, halving the
        batch finds it.
        """
        if error.upstream_status in KEYS_REFUSED:
            raise UpstreamError(f"Alpaca refuses the keys or the plan: {error}") from error
        if error.upstream_status != httpx.codes.BAD_REQUEST or "symbol" not in error.excerpt:
            raise error
        invalid = wire.invalid_symbol(error.excerpt)
        if invalid is not None and invalid in tickers:
            self._exclude(invalid)
            return await self._fetch([ticker for ticker in tickers if ticker != invalid])
        if len(tickers) == 1:
            self._exclude(tickers[0])
            return {}
        half = len(tickers) // 2
        return {**await self._fetch(tickers[:half]), **await self._fetch(tickers[half:])}

    def _exclude(self, ticker: str) -> None:
        log.warning("alpaca refuses the ticker", ticker=ticker)
        self._invalid.add(ticker)


class AlpacaProvider:
    """Quotes of `stocks` in US dollars; `change` is measured from the split-adjusted previous close.

    The previous close comes from the consolidated tape. The provider polls the snapshots of all stocks every
    15 seconds during regular and extended hours, and every five minutes otherwise. Between polls, the stream
    updates quotes with the trades of the `streamed` tickers and the minute bars of all stocks. Without
    `streamed`, it takes the 30 companies of the largest market capitalisation. When the stream fails, polling
    continues.

    `plan_feed` is the plan's data feed: `sip` is the consolidated tape, `iex` the IEX exchange alone.
    `exchange_clock` reports halts, closures and sessions that differ from the calendar.
    """

    name = "alpaca"
    feed = Feed.STOCKS
    simulated = False
    delay_seconds = 0.0
    always_open = False

    def __init__(
        self,
        rest: AlpacaRest,
        websocket_url: str,
        *,
        stocks: Sequence[Stock],
        plan_feed: Literal["iex", "sip"] = "iex",
        streamed: Sequence[str] = (),
        exchange_clock: Callable[[], Awaitable[MarketClock]] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._rest = rest
        self._tickers = [stock.ticker for stock in stocks]
        self._plan_feed = plan_feed
        self._exchange_clock = exchange_clock
        self._clock = rest.clock
        self._sleep = sleep
        self._board = Board(stocks, consolidated=plan_feed == "sip")
        self._closes = PreviousCloses(rest, plan_feed, chance=chance)
        largest = sorted(stocks, key=lambda stock: stock.shares * stock.price, reverse=True)
        self._stream = Stream(
            f"{websocket_url}/v2/{plan_feed}",
            rest.headers,
            (list(streamed) or [stock.ticker for stock in largest])[:MAX_STREAMED],
            self._board.decode,
            clock=rest.clock,
            sleep=sleep,
            chance=chance,
            unscheduled=lambda: self._board.unscheduled,
        )

    @property
    def silence_seconds(self) -> float:
        """Returns the seconds without an update after which the feed counts as stale: 1.5 poll intervals."""
        return schedule.silence_seconds(self._clock(), self._board.unscheduled)

    def statistics(self) -> Mapping[str, int]:
        """Returns the numbers of refused messages, rows and values since the start, by reason."""
        return Counter(self._board.statistics()) + Counter(self._closes.refused.by_reason())

    def resume(self, unscheduled: Unscheduled | None) -> None:
        """See Resumable."""
        self._board.unscheduled = unscheduled

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Yields updates until REST fails while the stream is down; see QuoteProvider."""
        async with (
            self._rest.open() as client,
            aclosing(merge_streams(self._poll_updates(client), self._stream_updates())) as updates,
        ):
            async for update in updates:
                yield update

    async def _stream_updates(self) -> AsyncGenerator[Update, None]:
        async with aclosing(self._stream.messages()) as batches:
            async for messages in batches:
                quotes, bars = self._board.take_messages(messages, self._clock()), self._board.take_bars()
                if quotes or bars:
                    yield Update(quotes, unscheduled=self._board.unscheduled, bars=bars)

    async def _poll_updates(self, client: httpx.AsyncClient) -> AsyncGenerator[Update, None]:
        """Yields an update after each poll.

        The first update whose batches all succeed is complete. Every other one holds the changed quotes.
        """
        snapshots = Snapshots(client, self._plan_feed, self._rest.admitted)
        is_complete_sent = False
        while True:
            poll_start = self._clock()
            poll, hours = await asyncio.gather(snapshots.poll(self._tickers), self._read_clock())
            for failure in poll.failures:
                log.warning("alpaca REST batch failed", problem=str(failure))
            if not poll.answered and not self._stream.live:
                raise poll.worst_failure
            changed = await self._apply_poll(poll.rows, poll_start, hours)
            if is_complete_sent or poll.failures:
                yield Update(changed, unscheduled=self._board.unscheduled)
            else:
                self._board.keep_only(poll.rows)
                yield Update(self._board.quotes(), complete=True, unscheduled=self._board.unscheduled)
                is_complete_sent = True
            due = poll_start + schedule.poll_seconds(poll_start, self._board.unscheduled) - self._clock()
            await self._sleep(max(due, poll.retry_after, MIN_PAUSE_SECONDS))

    async def _apply_poll(
        self, rows: SnapshotRows, poll_start: float, hours: MarketClock | None
    ) -> list[StockQuote]:
        """Returns the quotes that a poll and the exchange's clock change; `poll_start` is a Unix time."""
        board = self._board
        # An unscheduled session applies before the prices, because they belong to it. A halt or a closure
        # applies after them, because the board derives it from the latest trades.
        changed = self._apply_clock(hours) if hours and hours.is_open else []
        day = latest_session(to_utc(self._clock()), board.unscheduled).day
        changed += board.take_daily_history(await self._closes.refresh(rows, day), self._clock())
        changed += board.take_snapshots(rows, self._clock(), poll_start)
        return [*changed, *self._apply_clock(hours)] if hours else changed

    def _apply_clock(self, hours: MarketClock) -> list[StockQuote]:
        board, now = self._board, self._clock()
        day = unscheduled_day(hours, to_utc(now), traded=board.has_traded(now), before=board.unscheduled)
        return board.take_unscheduled(day, now)

    async def _read_clock(self) -> MarketClock | None:
        """Returns the exchange's clock, or None when it fails or exceeds its deadline."""
        if self._exchange_clock is None:
            return None
        try:
            async with asyncio.timeout(CLOCK_SECONDS):
                return await self._exchange_clock()
        except (UpstreamError, TimeoutError) as error:
            log.warning("alpaca clock request failed", problem=str(error))
            return None
