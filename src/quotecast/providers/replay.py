"""A recorded session of an upstream, played again."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.base import Update
from quotecast.providers.binance.tickers import Tickers as BinanceTickers
from quotecast.providers.coinbase.tickers import Tickers as CoinbaseTickers
from quotecast.providers.kraken.tickers import Tickers as KrakenTickers

#: Messages played within the same such step make one update.
STEP_SECONDS: Final = 0.01
#: In a gap of the recording and after its end, an empty update so often shows that the feed lives.
BEAT_SECONDS: Final = 1.0
#: The last instant that a timestamp can name.
LATEST: Final = 253_402_300_799.0
#: A line that says whose messages follow, such as `# binance`.
HEADING: Final = b"# "


class Reader(Protocol):
    """The decoding that a live feed takes, from messages to quotes."""

    def read(self, messages: Iterable[bytes], received: float, /) -> Sequence[CryptoQuote]:
        """The newest quote of each pair that changes with messages received at that Unix time."""
        ...

    def statistics(self) -> Mapping[str, int]:
        """How many messages were refused since the start, by reason."""
        ...


#: Whose recordings can be played; one without a heading is Coinbase's.
READERS: Final[Mapping[str, Callable[[], Reader]]] = {
    "coinbase": CoinbaseTickers,
    "binance": BinanceTickers,
    "kraken": KrakenTickers,
}


class ReplayProvider:
    """Plays a recording of an upstream's feed through the decoding that the live feed takes.

    Each line of the file is `<unix receive time> <JSON>`, after a heading that names the upstream; the gaps
    between the times, divided by `speed`, are kept. Quotes name the upstream as their provider and bear the
    times of then; those jump back when a `loop` starts over. `simulated` is true because it tells clients
    that the quotes are not of the market as it is now, and that holds for real quotes of another day as for
    invented ones.
    """

    name = "replay"
    feed = Feed.CRYPTO
    simulated = True
    delay_seconds = 0.0
    always_open = True

    def __init__(
        self,
        path: Path,
        *,
        speed: float = 1.0,
        loop: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.silence_seconds = 5 * BEAT_SECONDS
        self._path = path
        self._speed = speed
        self._loop = loop
        self._clock = clock
        self._sleep = sleep
        self._reader: Reader = CoinbaseTickers()

    def statistics(self) -> Mapping[str, int]:
        """How many messages were refused in this round, by reason."""
        return self._reader.statistics()

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Plays to the end, which is no error: then it starts over or goes on with empty updates.

        Raises UpstreamError, with the line's number, at a line that is no recorded message.
        """
        while True:
            started = self._clock()
            for due, update in self._steps():
                while (left := started + due - self._clock()) > BEAT_SECONDS:
                    await self._sleep(BEAT_SECONDS)
                    yield Update()
                await self._sleep(max(left, 0.0))
                yield update
            if not self._loop:
                break
            # A recorded second between the rounds, lest a recording of one line spin.
            await self._sleep(1 / self._speed)
        while True:
            await self._sleep(BEAT_SECONDS)
            yield Update()

    def _steps(self) -> Iterator[tuple[float, Update]]:
        """The updates of one round, each with the seconds after its start at which it is due."""
        self._reader = _reader(self._path)
        lines = _lines(self._path)
        first = next(lines, None)
        if first is None:
            raise UpstreamError(f"{self._path.name} holds no message")
        pace = self._speed * STEP_SECONDS
        for step, group in groupby(
            chain([first], lines), lambda line: int((line.received - first.received) / pace)
        ):
            yield step * STEP_SECONDS, Update(self._quotes(group))

    def _quotes(self, lines: Iterable["_Line"]) -> list[CryptoQuote]:
        quotes = (quote for line in lines for quote in self._reader.read([line.message], line.received))
        return list({quote.key: quote for quote in quotes}.values())


class _Line(Struct, frozen=True):
    received: float
    message: bytes


def _reader(path: Path) -> Reader:
    """The decoding of whoever the recording is of. Raises UpstreamError for one that nobody here can read."""
    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError as error:
        raise UpstreamError(f"{path.name} cannot be read: {error.strerror}") from error
    name = first.removeprefix(HEADING).decode(errors="replace").strip()
    if not first.startswith(HEADING):
        name = "coinbase"
    if name not in READERS:
        raise UpstreamError(f"{path.name} is a recording of {name!r}, which cannot be played")
    return READERS[name]()


def _lines(path: Path) -> Iterator[_Line]:
    """The recording's messages, read as they are wanted; blank lines are nothing."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip() and not line.startswith(HEADING):
                    yield _line(f"{path.name}:{number}", line)
    except OSError as error:
        raise UpstreamError(f"{path.name} cannot be read: {error.strerror}") from error


def _line(place: str, line: bytes) -> _Line:
    time_text, _, message = line.partition(b" ")
    try:
        received = float(time_text)
        msgspec.json.decode(message)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(f"{place} is no recorded message: {error}") from error
    if not 0 <= received <= LATEST:
        raise UpstreamError(f"{place} is no recorded message: no such time")
    return _Line(received, message.strip())
