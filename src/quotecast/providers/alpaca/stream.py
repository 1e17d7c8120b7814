"""Trades and minute bars by WebSocket, over one connection that reconnects with backoff."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final

import structlog
from websockets.asyncio.client import ClientConnection

from quotecast.errors import UpstreamError
from quotecast.market.sessions import Unscheduled
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.schedule import is_expected_open
from quotecast.providers.transport.backoff import ConnectionBackoff
from quotecast.providers.transport.sockets import FellSilent, dial, receive, socket_errors

#: Deadline in seconds for authentication and subscription; Alpaca closes the connection after it.
HANDSHAKE_SECONDS: Final = 10.0
#: Seconds without a message after which the connection counts as dead; an open exchange sends bars each
#: minute.
SILENCE_SECONDS: Final = 180.0
#: The same while the exchange is closed: hours may pass without messages, and pings detect a dead connection.
SILENCE_CLOSED_SECONDS: Final = 3600.0
#: Seconds until the next attempt after an error that only the operator can resolve.
OPERATOR_RETRY_SECONDS: Final = 3600.0
#: Seconds of delay per refused connection: Alpaca counts a closed connection for some seconds more.
CONNECTION_RETRY_SECONDS: Final = 0.5

#: Alpaca's error codes, in our words.
NEEDS_OPERATOR: Final = {
    402: "Alpaca rejects the keys",
    408: "the plan does not include the stream",
    409: "the plan does not include this feed; choose iex",
    411: "the keys do not permit the stream",
}
FAILURES: Final = {
    400: "Alpaca cannot parse the request",
    401: "not authenticated",
    404: "not authenticated in time",
    405: "too many symbols",
    406: "another connection is open with these keys",
    407: "slow consumer: the client reads too slowly",
    410: "this feed does not support the request",
    500: "internal error",
}
ALREADY_AUTHENTICATED: Final = 403
TOO_MANY_SYMBOLS: Final = 405
TOO_MANY_CONNECTIONS: Final = 406

NAME: Final = "Alpaca's stream"

log = structlog.get_logger()


class Stream:
    """The stream of one data feed at `url`; `headers` contain the keys, and `clock` returns Unix time.

    It subscribes to the trades of `tickers`, as many as the plan allows, and to the minute bars of all
    stocks. `decode` returns the messages of a frame. `unscheduled` returns the exchange's deviation from its
    calendar: a closed exchange sends no messages.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        tickers: Sequence[str],
        decode: Callable[[bytes], Sequence[wire.Message]],
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        chance: Callable[[], float],
        unscheduled: Callable[[], Unscheduled | None],
    ) -> None:
        #: Whether the subscription is active.
        self.live = False
        self._url = url
        self._headers = headers
        self._tickers = tickers
        self._decode = decode
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._unscheduled = unscheduled
        self._connection_refusals = 0
        self._lock = asyncio.Lock()

    async def messages(self) -> AsyncGenerator[list[wire.MarketData], None]:
        """Yields trades and minute bars without end; reconnects with backoff when a connection breaks.

        A second iterator waits until the first one is closed, because Alpaca allows one connection.
        """
        async with self._lock:
            backoff = ConnectionBackoff(clock=self._clock, chance=self._chance)
            while True:
                retry_after = 0.0
                try:
                    async with aclosing(self._connection()) as messages:
                        async for batch in messages:
                            backoff.note_message()
                            if batch:
                                yield batch
                except UpstreamError as error:
                    retry_after = error.retry_after or 0.0
                    log.warning("alpaca stream failed", problem=str(error))
                finally:
                    self.live = False
                await self._sleep(max(backoff.delay(), retry_after))

    async def _connection(self) -> AsyncGenerator[list[wire.MarketData], None]:
        """Yields one connection's messages. Raises UpstreamError when it breaks."""
        with socket_errors(NAME):
            async with dial(self._url, headers=self._headers) as connection:
                yield wire.market_data(await self._subscribe(connection))
                while True:
                    frames = await self._receive_frames(connection)
                    messages = [message for frame in frames for message in self._decode(frame)]
                    for message in messages:
                        self._raise_failure(message)
                    yield wire.market_data(messages)

    async def _receive_frames(self, connection: ClientConnection) -> list[bytes]:
        """Returns the next frames; an empty list when the silence limit has become longer meanwhile.

        The limit becomes longer when the exchange's clock reports a closure. Raises FellSilent otherwise.
        """
        seconds = self._silence_seconds()
        try:
            return await receive(connection, seconds, NAME)
        except FellSilent:
            if self._silence_seconds() <= seconds:
                raise
            return []

    async def _subscribe(self, connection: ClientConnection) -> list[wire.Message]:
        """Authenticates and subscribes; returns all messages up to the subscription response."""
        early: list[wire.Message] = []
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                while not self.live:
                    batch = self._decode(await connection.recv(decode=False))
                    early += batch
                    for message in batch:
                        await self._continue_handshake(connection, message)
        except TimeoutError as error:
            raise UpstreamError(f"{NAME} did not open in {HANDSHAKE_SECONDS:g} s") from error
        return early

    async def _continue_handshake(self, connection: ClientConnection, message: wire.Message) -> None:
        if isinstance(message, wire.Subscription):
            self.live = True
            self._connection_refusals = 0
        elif isinstance(message, wire.Success) and message.message == "authenticated":
            await connection.send(wire.encode_subscribe(self._tickers), text=True)
        elif isinstance(message, wire.StreamError) and message.code == TOO_MANY_SYMBOLS and self._tickers:
            self._tickers = self._tickers[: len(self._tickers) // 2]
            log.warning("alpaca plan allows fewer symbols", tried=len(self._tickers))
            await connection.send(wire.encode_subscribe(self._tickers), text=True)
        else:
            self._raise_failure(message)

    def _raise_failure(self, message: wire.Message) -> None:
        """Raises the error of an error message in our words: Alpaca's text might repeat the keys."""
        if not isinstance(message, wire.StreamError) or message.code == ALREADY_AUTHENTICATED:
            return
        code = message.code
        wait: float | None = None
        if code in NEEDS_OPERATOR:
            reason = f"{NEEDS_OPERATOR[code]} (error {code}): this needs the operator"
            raise UpstreamError(f"{NAME}: {reason}", retry_after=OPERATOR_RETRY_SECONDS)
        if code == TOO_MANY_CONNECTIONS:
            self._connection_refusals += 1
            wait = self._connection_refusals * CONNECTION_RETRY_SECONDS
        raise UpstreamError(f"{NAME}: {FAILURES.get(code, 'failed')} (error {code})", retry_after=wait)

    def _silence_seconds(self) -> float:
        is_open = is_expected_open(self._clock(), self._unscheduled())
        return SILENCE_SECONDS if is_open else SILENCE_CLOSED_SECONDS
