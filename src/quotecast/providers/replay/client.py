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
from quotecast.market.instruments import canonical
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.base import Update
from quotecast.providers.binance.tickers import BinanceTickers
from quotecast.providers.binance.venues import US
from quotecast.providers.coinbase.tickers import CoinbaseTickers
from quotecast.providers.kraken.tickers import KrakenTickers
from quotecast.providers.transport.recording import Instrument

#: Messages played within the same such step make one update.
STEP_SECONDS: Final = 0.01
#: In a gap of the recording and after its end, an empty update so often shows that the feed lives.
BEAT_SECONDS: Final = 1.0
#: The last instant that a timestamp can name.
LATEST: Final = 253_402_300_799.0
#: A line that says whose messages follow, such as `# binance`.
HEADING: Final = b"# "
#: A line with the pairs that the messages after it are about, as JSON.
LISTING: Final = b"# listing "
#: Upstreams whose symbols do not say where the base ends: their recordings need a listing.
UNDIVIDED: Final = frozenset({"binance", "binance.us"})

_listing: Final = msgspec.json.Decoder(list[Instrument])


class MessageReader(Protocol):
    """The decoding that a live feed takes, from messages to quotes."""

    def read(self, messages: Iterable[bytes], received: float, /) -> Sequence[CryptoQuote]:
        """The newest quote of each pair that changes with messages received at that Unix time."""
        ...

    def learn(self, instruments: Sequence[Instrument], /) -> None:
        """Takes over the pairs and names of a listing."""
        ...

    def statistics(self) -> Mapping[str, int]:
        """How many messages were refused since the start, by reason."""
        ...


#: Whose recordings can be played; one without a heading is Coinbase's.
READERS: Final[Mapping[str, Callable[[], MessageReader]]] = {
    "coinbase": CoinbaseTickers,
    "binance": BinanceTickers,
    "binance.us": lambda: BinanceTickers(US),
    "kraken": KrakenTickers,
}


class ReplayProvider:
    """Plays a recording of an upstream's feed through the decoding that the live feed takes.

    A heading names the upstream, the next line lists its pairs, and each line after it is
    `<unix receive time> <JSON>`. The gaps between the times, divided by `speed`, are kept. Without a listing
    assets have the names of our own table, and Binance's symbols cannot be played. Quotes name the upstream
    as their provider and bear the times of then; those jump back when a `loop` starts over. `simulated` is
    true because it tells clients that the quotes are not of the market as it is now, and that holds for real
    quotes of another day as for invented ones.
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
        self._reader: MessageReader = CoinbaseTickers()

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
        name = _upstream(self._path)
        self._reader = READERS[name]()
        lines = _lines(self._path, name, self._reader)
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


def _upstream(path: Path) -> str:
    """The upstream that the recording is of. Raises UpstreamError for one that cannot be played."""
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
    return name


def _lines(path: Path, upstream: str, reader: MessageReader) -> Iterator[_Line]:
    """The recording's messages, read as they are wanted; the reader learns each listing between them."""
    needs_listing = upstream in UNDIVIDED
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                place = f"{path.name}:{number}"
                if line.startswith(LISTING.strip()):
                    reader.learn(_instruments(place, line))
                    needs_listing = False
                elif line.strip() and not line.startswith(HEADING):
                    if needs_listing:
                        raise UpstreamError(
                            f"{place} follows no listing, without which symbols of {upstream} name no pair; "
                            "record again"
                        )
                    yield _line(place, line)
    except OSError as error:
        raise UpstreamError(f"{path.name} cannot be read: {error.strerror}") from error


def _instruments(place: str, line: bytes) -> list[Instrument]:
    try:
        found = _listing.decode(line.removeprefix(LISTING))
    except (ValueError, RecursionError) as error:
        raise UpstreamError(f"{place} is no listing: {error}") from error
    return [each for each in found if canonical(Feed.CRYPTO, each.pair) == each.pair]


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
