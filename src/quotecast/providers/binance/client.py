"""Binance spot's quotes: the whole state by REST, changes by WebSocket."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from itertools import islice
from typing import Final

import structlog
from msgspec import Raw
from websockets.asyncio.client import ClientConnection

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from quotecast.providers.binance import wire
from quotecast.providers.binance.listing import best_known, symbol_of, tradable_pairs
from quotecast.providers.binance.rest import BinanceRest, location_errors
from quotecast.providers.binance.tickers import BinanceTickers, check_ending
from quotecast.providers.crypto import log_unfollowed
from quotecast.providers.transport.recording import record_listing
from quotecast.providers.transport.sockets import dial, receive, receive_or_ping, socket_errors

#: Most streams of one connection; one of them is the heartbeat.
MAX_STREAMS: Final = 1024
STREAMS_PER_SUBSCRIBE: Final = 100
#: The upstream disconnects a client that sends more than five messages in a second.
SUBSCRIBE_PAUSE_SECONDS: Final = 0.3
ANSWER_SECONDS: Final = 10.0
#: The upstream ends a connection after 24 hours; each new one reads a new listing.
LIFE_SECONDS: Final = 23.5 * 3600
LISTING_SECONDS: Final = 23.0 * 3600
#: Seconds between two checks for pairs that stopped trading.
HALTS_SECONDS: Final = 60.0

log = structlog.get_logger()


class BinanceProvider:
    """Live quotes of Binance spot, and its bars of minutes; `change` is over the last 24 hours.

    It follows `pairs`, in any spelling. Without any it follows USDT/TRY and those pairs in USDT or US dollars
    whose asset is well known or whose turnover is greatest. It removes a pair a day after that stopped
    trading. `silence_seconds` relies on a ticker every second, or on pings where the venue has none. `venue`
    is that of `url` by default.
    """

    feed = Feed.CRYPTO
    simulated = False
    delay_seconds = 0.0
    always_open = True

    def __init__(
        self,
        url: str,
        websocket_url: str,
        pairs: Sequence[str] = (),
        *,
        venue: wire.BinanceVenue | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.silence_seconds = 10.0
        self._venue = venue or wire.venue_of(url)
        self.name = self._venue.name
        self._rest = BinanceRest(url, clock)
        self._websocket_url = websocket_url
        self._wanted = tuple(dict.fromkeys(map(symbol_of, pairs)))
        self._clock = clock
        self._sleep = sleep
        self._followed: Mapping[str, str] = {}
        self._listed_at = 0.0
        self._looked_at = 0.0
        self._tickers = BinanceTickers(self._venue)

    def statistics(self) -> Mapping[str, int]:
        """Returns how many messages, rows and fields it refused since the start, by reason."""
        return self._tickers.statistics()

    def inherit(self, quotes: Sequence[Quote]) -> None:
        """See Inheriting."""
        self._tickers.inherit(quotes)

    async def updates(self) -> AsyncGenerator[Update, None]:
        """See QuoteProvider; it ends a connection before the upstream would."""
        await self._look_around()
        removed = self._tickers.follow(self._followed)
        record_listing(self._tickers.instruments(self._followed))
        with socket_errors(self._venue.exchange), location_errors():
            async with dial(f"{self._websocket_url}/stream") as connection:
                ends = self._clock() + LIFE_SECONDS
                await self._subscribe(connection)
                # After the subscription, so that no change is lost between the two.
                yield await self._whole(removed)
                while self._clock() < ends:
                    frames = await self._receive(connection)
                    quotes = self._tickers.read(frames, self._clock())
                    yield Update(quotes, self._halted(), bars=self._tickers.take_bars())
        raise UpstreamError("Binance's connection is a day old; reconnecting", retry_after=0.0)

    async def _receive(self, connection: ClientConnection) -> list[bytes]:
        """Returns the next messages; none when the venue is quiet and the upstream answers a ping."""
        name = self._venue.exchange
        if self._venue.heartbeat is None:
            # Two tries before the feed counts as stale.
            return await receive_or_ping(connection, self.silence_seconds / 2, name)
        return await receive(connection, self.silence_seconds, name)

    def _halted(self) -> list[str]:
        """Returns the pairs that stopped trading a day ago; looks for them once a minute."""
        now = self._clock()
        if now - self._looked_at < HALTS_SECONDS:
            return []
        self._looked_at = now
        return self._tickers.drop_halted(now)

    async def _look_around(self) -> None:
        """Chooses the pairs to follow, once a day; keeps the former choice when that fails."""
        if self._followed and self._clock() - self._listed_at < LISTING_SECONDS:
            return
        try:
            self._followed = await self._choose()
            self._listed_at = self._clock()
        except UpstreamError as error:
            if not self._followed:
                raise
            _log_unless_asked_to_wait(error)

    async def _choose(self) -> Mapping[str, str]:
        """Returns pairs by symbol. Raises UpstreamError when none of the wanted ones trades."""
        answer = await self._rest.get("/api/v3/exchangeInfo", wire.ExchangeInfo, self._venue.listing)
        listing = tradable_pairs(answer.symbols)
        if self._wanted:
            pairs = {symbol: listing[symbol] for symbol in self._wanted if symbol in listing}
            for symbol in set(self._wanted) - pairs.keys():
                log_unfollowed(self.name, symbol)
        else:
            pairs = best_known(listing, await self._rows())
        if not pairs:
            raise UpstreamError("Binance trades none of the pairs")
        if len(pairs) >= MAX_STREAMS:
            log.warning("more pairs than one connection carries", pairs=len(pairs), followed=MAX_STREAMS - 1)
        return dict(islice(pairs.items(), MAX_STREAMS - 1))

    async def _rows(self) -> list[Raw]:
        return await self._rest.get("/api/v3/ticker/24hr", list[Raw])

    async def _whole(self, removed: Sequence[str]) -> Update:
        """Returns the whole state; an update with removals alone when REST fails after it worked before."""
        answered = True
        try:
            self._tickers.take(await self._rows(), self._clock())
        except UpstreamError as error:
            if not self._tickers.quotes():
                raise
            _log_unless_asked_to_wait(error)
            answered = False
        gone = [*removed, *self._tickers.drop_halted(self._clock())]
        quotes = self._tickers.quotes() if answered else ()
        return Update(quotes, gone, complete=bool(quotes))

    async def _subscribe(self, connection: ClientConnection) -> None:
        """Subscribes all streams, a part at a time; skips messages, which the coming REST answer replaces.

        Candles come for as many pairs as the connection carries.
        """
        heartbeat = [self._venue.heartbeat] if self._venue.heartbeat else []
        tickers = [f"{symbol.lower()}@ticker" for symbol in dict.fromkeys([*self._followed, *heartbeat])]
        candles = [f"{symbol.lower()}@kline_1m" for symbol in self._followed]
        streams = [*tickers, *candles][:MAX_STREAMS]
        for number, start in enumerate(range(0, len(streams), STREAMS_PER_SUBSCRIBE), 1):
            if number > 1:
                await self._sleep(SUBSCRIBE_PAUSE_SECONDS)
            part = streams[start : start + STREAMS_PER_SUBSCRIBE]
            await _ask(connection, wire.subscribe(part, number))


async def _ask(connection: ClientConnection, request: bytes) -> None:
    """Sends a request and waits for its answer. Raises UpstreamError for an error or none in time."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.send(request, text=True)
            while True:
                try:
                    message = wire.decode(await connection.recv(decode=False))
                except (ValueError, RecursionError):
                    continue
                check_ending(message)
                if isinstance(message, wire.Acknowledged):
                    return
    except TimeoutError as error:
        raise UpstreamError("Binance did not answer the subscription") from error


def _log_unless_asked_to_wait(error: UpstreamError) -> None:
    """Logs a failure of REST. Raises it when the upstream asks for a pause."""
    if error.retry_after is not None:
        raise error
    log.warning("binance: REST call failed", problem=str(error))
