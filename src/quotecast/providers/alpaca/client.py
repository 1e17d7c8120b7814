"""Alpaca's quotes of US stocks: all of them by REST, what moves between two polls by WebSocket."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final, Literal

import httpx
import structlog

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.quotes import StockQuote
from quotecast.merging import merged
from quotecast.providers.alpaca import schedule
from quotecast.providers.alpaca.board import Board
from quotecast.providers.alpaca.closes import Closes
from quotecast.providers.alpaca.known import aware, session_of
from quotecast.providers.alpaca.rest import Rest
from quotecast.providers.alpaca.rest_wire import Clock
from quotecast.providers.alpaca.snapshots import Rows, Snapshots
from quotecast.providers.alpaca.stream import Stream
from quotecast.providers.alpaca.unscheduled import unscheduled
from quotecast.providers.base import Admission, Update, unlimited
from quotecast.providers.reference import Stock
from quotecast.providers.transport.fetch import open_client

#: So many symbols' trades the free plan streams.
STREAMED: Final = 30
#: The clock of the exchange is asked between two polls, and must not delay the next.
CLOCK_SECONDS: Final = 5.0
#: Polls that take long still leave the upstream a breath.
LEAST_PAUSE_SECONDS: Final = 1.0

log = structlog.get_logger()


class AlpacaProvider:
    """Quotes of `stocks`; `change` is against the last session's close on the whole tape, split-adjusted.

    Snapshots of all are asked for every 15 seconds while US stocks trade, before and after hours too, and
    every five minutes else. Between them, trades of the `streamed` tickers, the 30 largest companies when
    none are named, and the minute bars of all move the quotes. When the stream fails, polling goes on.

    `plan_feed` is what the plan includes; `admitted` is asked before each call, `exchange_clock` for closings
    and sessions that the calendar does not have.
    """

    name = "alpaca"
    feed = Feed.STOCKS
    simulated = False
    delay_seconds = 0.0
    always_open = False

    def __init__(
        self,
        url: str,
        websocket_url: str,
        key: str,
        secret: str,
        *,
        stocks: Sequence[Stock],
        plan_feed: Literal["iex", "sip"] = "iex",
        streamed: Sequence[str] = (),
        admitted: Admission = unlimited,
        exchange_clock: Callable[[], Awaitable[Clock]] | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._url = url
        self._headers = {"APCA-API-KEY-ID": key, "APCA-API-SECRET-KEY": secret}
        self._tickers = [stock.ticker for stock in stocks]
        self._plan_feed = plan_feed
        self._admitted = admitted
        self._exchange_clock = exchange_clock
        self._clock = clock
        self._sleep = sleep
        self._board = Board(stocks, whole_tape=plan_feed == "sip")
        self._closes = Closes(Rest(url, key, secret, admitted, clock), plan_feed, clock=clock, chance=chance)
        self._stream = Stream(
            f"{websocket_url}/v2/{plan_feed}",
            self._headers,
            (list(streamed) or _largest(stocks))[:STREAMED],
            self._board.decode,
            clock=clock,
            sleep=sleep,
            chance=chance,
        )

    @property
    def silence_seconds(self) -> float:
        """A poll and a half, as often as polls are now."""
        return schedule.silence_seconds(self._clock(), self._board.unscheduled)

    def statistics(self) -> Mapping[str, int]:
        """How many messages, rows and values were refused since the start, by reason."""
        return Counter(self._board.statistics()) + Counter(self._closes.refused.by_reason())

    async def updates(self) -> AsyncGenerator[Update, None]:
        """The quotes, as QuoteProvider promises, until REST fails while nothing is streamed."""
        async with (
            open_client(self._url, self._headers) as client,
            aclosing(merged(self._polled(client), self._streamed())) as updates,
        ):
            async for update in updates:
                yield update

    async def _streamed(self) -> AsyncGenerator[Update, None]:
        async with aclosing(self._stream.follow()) as batches:
            async for messages in batches:
                if quotes := self._board.take_messages(messages, self._clock()):
                    yield Update(quotes, unscheduled=self._board.unscheduled)

    async def _polled(self, client: httpx.AsyncClient) -> AsyncGenerator[Update, None]:
        """What changed, poll by poll; the first whose batches are all answered brings all there is."""
        snapshots = Snapshots(client, self._plan_feed, self._admitted)
        began = False
        while True:
            asked = self._clock()
            poll, hours = await asyncio.gather(snapshots.poll(self._tickers), self._ask_clock())
            for failure in poll.failures:
                log.warning("alpaca answers REST badly", problem=str(failure))
            if not poll.answered and not self._stream.live:
                raise poll.worst_failure
            changed = await self._take(poll.rows, asked, hours)
            if began or poll.failures:
                yield Update(changed, unscheduled=self._board.unscheduled)
            else:
                self._board.keep_only(poll.rows)
                yield Update(self._board.quotes(), complete=True, unscheduled=self._board.unscheduled)
                began = True
            await self._pause(asked, poll.retry_after)

    async def _take(self, rows: Rows, asked: float, hours: Clock | None) -> list[StockQuote]:
        """The quotes that change with a poll that began at `asked`, and what the exchange's clock says."""
        board = self._board
        # A session that no calendar has comes before its tapes, a closing behind the prices that show it.
        changed = self._heed(hours) if hours and hours.is_open else []
        day = session_of(aware(self._clock()), board.unscheduled).day
        changed += board.take_tapes(await self._closes.refresh(rows, day), self._clock())
        changed += board.take_snapshots(rows, self._clock(), asked)
        return [*changed, *self._heed(hours)] if hours else changed

    def _heed(self, hours: Clock) -> list[StockQuote]:
        board, now = self._board, self._clock()
        day = unscheduled(hours, aware(now), traded=board.has_traded(now), before=board.unscheduled)
        return board.take_unscheduled(day, now)

    async def _pause(self, asked: float, wanted: float) -> None:
        """Waits for the next poll after the one that began at `asked`, or as long as the upstream wants."""
        due = asked + schedule.poll_seconds(asked, self._board.unscheduled) - self._clock()
        await self._sleep(max(due, wanted, LEAST_PAUSE_SECONDS))

    async def _ask_clock(self) -> Clock | None:
        """What the exchange's own clock says; None when nobody knows."""
        if self._exchange_clock is None:
            return None
        try:
            async with asyncio.timeout(CLOCK_SECONDS):
                return await self._exchange_clock()
        except (UpstreamError, TimeoutError) as error:
            log.warning("alpaca's clock does not answer", problem=str(error))
            return None


def _largest(stocks: Sequence[Stock]) -> list[str]:
    by_value = sorted(stocks, key=lambda stock: stock.shares * stock.price, reverse=True)
    return [stock.ticker for stock in by_value]
