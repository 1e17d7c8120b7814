"""Kraken's quotes, by WebSocket."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from typing import Final

import structlog
from websockets.asyncio.client import ClientConnection

from quotecast.errors import UpstreamError
from quotecast.market import reference
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from quotecast.providers.crypto import log_unfollowed
from quotecast.providers.kraken import wire
from quotecast.providers.kraken.tickers import KrakenTickers, check_status
from quotecast.providers.transport.recording import record_listing, record_messages
from quotecast.providers.transport.sockets import dial, receive, socket_errors

NAME: Final = "Kraken"
ANSWER_SECONDS: Final = 10.0
PAIRS_PER_SUBSCRIBE: Final = 100

log = structlog.get_logger()


class KrakenProvider:
    """Live quotes of Kraken, and its bars of minutes; `change` is over the last 24 hours.

    It follows `pairs`, in any spelling, or by default the well-known assets in US dollars.
    `silence_seconds` relies on heartbeats, one in each second without another message.
    """

    name = "kraken"
    feed = Feed.CRYPTO
    simulated = False
    delay_seconds = 0.0
    always_open = True

    def __init__(
        self, websocket_url: str, pairs: Sequence[str] = (), *, clock: Callable[[], float] = time.time
    ) -> None:
        self.silence_seconds = 10.0
        self._websocket_url = websocket_url
        well_known = dict.fromkeys(f"{pair.base}/USD" for pair in reference.pairs())
        self._wanted = _canonical_pairs(pairs) if pairs else tuple(well_known)
        self._clock = clock
        self._tickers = KrakenTickers()

    def statistics(self) -> Mapping[str, int]:
        """Returns how many messages, rows and fields it refused since the start, by reason."""
        return self._tickers.statistics()

    def inherit(self, quotes: Sequence[Quote]) -> None:
        """See Inheriting."""
        self._tickers.inherit(quotes)

    async def updates(self) -> AsyncGenerator[Update, None]:
        """See QuoteProvider."""
        with socket_errors(NAME):
            async with dial(self._websocket_url) as connection:
                followed, messages = await self._subscribe(connection)
                record_listing(self._tickers.instruments({pair: pair for pair in sorted(followed)}))
                record_messages(messages)
                removed = self._tickers.keep_only(followed)
                yield Update(self._tickers.read(messages, self._clock()), removed)
                for number, part in _parts(sorted(followed)):
                    await connection.send(wire.subscribe_candles(part, number), text=True)
                while True:
                    messages = await receive(connection, self.silence_seconds, NAME)
                    quotes = self._tickers.read(messages, self._clock())
                    yield Update(quotes, bars=self._tickers.take_bars())

    async def _subscribe(self, connection: ClientConnection) -> tuple[set[str], list[bytes]]:
        """Returns the pairs that the upstream accepts, and every message up to its last answer.

        Raises UpstreamError when it trades none of the wanted pairs.
        """
        messages: list[bytes] = []
        waiting = set(self._wanted)
        followed: set[str] = set()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                for number, part in _parts(self._wanted):
                    await connection.send(wire.subscribe(part, number), text=True)
                while waiting:
                    messages.append(await connection.recv(decode=False))
                    granted, refused = _answer(messages[-1])
                    waiting -= granted | refused
                    followed |= granted
        except TimeoutError as error:
            raise UpstreamError("Kraken did not answer the subscription") from error
        if not followed:
            raise UpstreamError("Kraken trades none of the pairs")
        return followed, messages


def _parts(pairs: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yields as many pairs as one request takes, and its number."""
    for number, start in enumerate(range(0, len(pairs), PAIRS_PER_SUBSCRIBE), 1):
        yield number, pairs[start : start + PAIRS_PER_SUBSCRIBE]


def _answer(raw: bytes) -> tuple[set[str], set[str]]:
    """Returns the pair that an answer accepts and the one that it rejects; none for any other message.

    Raises UpstreamError when it rejects the whole subscription, or trading is halted.
    """
    try:
        message = wire.decode(raw)
    except (ValueError, RecursionError):
        return set(), set()
    check_status(message)
    if message.method != "subscribe":
        return set(), set()
    if message.success:
        return {message.result.symbol} if message.result else set(), set()
    if message.symbol is None:
        raise UpstreamError(f"Kraken refuses the subscription: {message.error[:200]}")
    log.warning(
        "a pair is not followed: the venue does not trade it",
        venue="kraken",
        pair=message.symbol,
        problem=message.error[:200],
    )
    return set(), {message.symbol}


def _canonical_pairs(pairs: Sequence[str]) -> tuple[str, ...]:
    """Returns the pairs in Kraken's spelling; logs those without one."""
    found: dict[str, None] = {}
    for each in pairs:
        if pair := canonical_symbol(Feed.CRYPTO, each):
            found[pair] = None
        elif each.isascii() and each.isalnum():
            log.warning("a pair is not followed: write it as BTC/USD", pair=each)
        else:
            log_unfollowed("kraken", each)
    return tuple(found)
