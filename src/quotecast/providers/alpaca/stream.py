"""Trades and minute bars by WebSocket: one connection, made again for as long as it is wanted."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final

import structlog
from websockets.asyncio.client import ClientConnection

from quotecast.errors import UpstreamError
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.schedule import should_be_open
from quotecast.providers.transport.backoff import ConnectionBackoff
from quotecast.providers.transport.sockets import dial, receive, socket_errors

#: The upstream hangs up on a client that has not authenticated by then.
OPENING_SECONDS: Final = 10.0
#: While the exchange is open there are bars every minute.
SILENCE_SECONDS: Final = 180.0
#: At night and on weekends nothing comes for hours; a dead connection is noticed by its pings.
SILENCE_CLOSED_SECONDS: Final = 3600.0
#: How long to leave the upstream alone when only the operator can help.
OPERATOR_SECONDS: Final = 3600.0
#: A session that has just ended counts against the limit for some seconds yet.
CROWDED_SECONDS: Final = 0.5

#: What the upstream's error codes mean.
NEEDS_OPERATOR: Final = {
    402: "the keys are refused",
    408: "the plan does not include the stream",
    409: "the plan does not include this feed; choose iex",
    411: "the keys do not permit the stream",
}
FAILURES: Final = {
    400: "a message of ours was not understood",
    401: "not authenticated",
    404: "not authenticated in time",
    405: "too many symbols",
    406: "another connection is open with these keys",
    407: "we read too slowly",
    410: "a message of ours is not for this feed",
    500: "internal error",
}
ALREADY_AUTHENTICATED: Final = 403
TOO_MANY_SYMBOLS: Final = 405
TOO_MANY_CONNECTIONS: Final = 406

NAME: Final = "Alpaca's stream"

log = structlog.get_logger()


class Stream:
    """One feed's stream at `url`; `headers` hold the keys, `decode` reads a frame, `clock` is Unix time.

    Of `tickers` trades are asked for, as many as the plan allows, and minute bars of all stocks.
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
    ) -> None:
        #: Whether messages may come now.
        self.live = False
        self._url = url
        self._headers = headers
        self._tickers = tickers
        self._decode = decode
        self._clock = clock
        self._sleep = sleep
        self._chance = chance
        self._crowded = 0
        self._only = asyncio.Lock()

    async def follow(self) -> AsyncGenerator[list[wire.Data], None]:
        """What moves quotes, as it comes, for ever; after a connection that breaks, another, with backoff.

        Whoever follows while another does waits for the other to be closed.
        """
        async with self._only:
            backoff = ConnectionBackoff(clock=self._clock, chance=self._chance)
            while True:
                asked = 0.0
                try:
                    async with aclosing(self._connection()) as messages:
                        async for batch in messages:
                            backoff.note_message()
                            if batch:
                                yield batch
                except UpstreamError as error:
                    asked = error.retry_after or 0.0
                    log.warning("alpaca streams nothing", problem=str(error))
                finally:
                    self.live = False
                await self._sleep(max(backoff.delay(), asked))

    async def _connection(self) -> AsyncGenerator[list[wire.Data], None]:
        """One connection's life. Raises UpstreamError when it breaks."""
        with socket_errors(NAME):
            async with dial(self._url, headers=self._headers) as connection:
                yield wire.data(await self._open(connection))
                while True:
                    yield self._heed(await receive(connection, self._silence_seconds(), NAME))

    async def _open(self, connection: ClientConnection) -> list[wire.Message]:
        """Subscribes once the keys are accepted; returns all messages up to the answer."""
        early: list[wire.Message] = []
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                while not self.live:
                    batch = self._decode(await connection.recv(decode=False))
                    early += batch
                    for message in batch:
                        await self._proceed(connection, message)
        except TimeoutError as error:
            raise UpstreamError(f"{NAME} did not open in {OPENING_SECONDS:g} s") from error
        return early

    async def _proceed(self, connection: ClientConnection, message: wire.Message) -> None:
        if isinstance(message, wire.Subscription):
            self.live = True
            self._crowded = 0
        elif isinstance(message, wire.Success) and message.message == "authenticated":
            await connection.send(wire.subscribe(self._tickers), text=True)
        elif isinstance(message, wire.Failure) and message.code == TOO_MANY_SYMBOLS and self._tickers:
            self._tickers = self._tickers[: len(self._tickers) // 2]
            log.warning("alpaca's plan allows fewer symbols", tried=len(self._tickers))
            await connection.send(wire.subscribe(self._tickers), text=True)
        else:
            self._heed_control(message)

    def _heed(self, frames: Sequence[bytes]) -> list[wire.Data]:
        messages = [message for frame in frames for message in self._decode(frame)]
        for message in messages:
            self._heed_control(message)
        return wire.data(messages)

    def _heed_control(self, message: wire.Message) -> None:
        if not isinstance(message, wire.Failure) or message.code == ALREADY_AUTHENTICATED:
            return
        self._crowded += message.code == TOO_MANY_CONNECTIONS
        raise self._complaint(message.code)

    def _complaint(self, code: int) -> UpstreamError:
        """The upstream's own words are not repeated: they might hold what it was sent."""
        if code in NEEDS_OPERATOR:
            reason = f"{NEEDS_OPERATOR[code]} (error {code}): this needs the operator"
            return UpstreamError(f"{NAME}: {reason}", retry_after=OPERATOR_SECONDS)
        wait = self._crowded * CROWDED_SECONDS if code == TOO_MANY_CONNECTIONS else None
        return UpstreamError(f"{NAME}: {FAILURES.get(code, 'failed')} (error {code})", retry_after=wait)

    def _silence_seconds(self) -> float:
        return SILENCE_SECONDS if should_be_open(self._clock()) else SILENCE_CLOSED_SECONDS
