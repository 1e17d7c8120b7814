"""Replay of a recorded session of an upstream."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.providers.base import Update
from quotecast.providers.binance.tickers import BinanceTickers
from quotecast.providers.binance.wire import US
from quotecast.providers.coinbase.tickers import CoinbaseTickers
from quotecast.providers.crypto import PairTickers, newest
from quotecast.providers.kraken.tickers import KrakenTickers
from quotecast.providers.transport.recording import Instrument

#: Messages within one such step of the replay make one update.
STEP_SECONDS: Final = 0.01
#: Seconds between empty updates, the signs of life, in a gap of the recording and after its end.
BEAT_SECONDS: Final = 1.0
#: The last Unix time of a timestamp, in the year 9999.
LATEST: Final = 253_402_300_799.0
#: The first line names the upstream of the messages, such as `# binance`.
HEADING: Final = b"# "
#: A line with the pairs of the messages after it, as JSON.
LISTING: Final = b"# listing "
#: Upstreams whose symbols do not divide base and quote: their recordings need a listing.
UNDIVIDED: Final = frozenset({"binance", "binance.us"})

_listing: Final = msgspec.json.Decoder(list[Instrument])

#: Decoders by upstream; a recording without a heading is Coinbase's.
READERS: Final[Mapping[str, Callable[[], PairTickers]]] = {
    "coinbase": CoinbaseTickers,
    "binance": BinanceTickers,
    "binance.us": lambda: BinanceTickers(US),
    "kraken": KrakenTickers,
}


class ReplayProvider:
    """Plays a recording of an upstream's feed through the decoder of the live feed.

    A heading names the upstream, the next line lists its pairs, and each line after it is
    `<unix receive time> <JSON>`. A replay waits for the gaps between the times, divided by `speed`. Without a
    listing assets have the names of our own table, and recordings of Binance do not play. Quotes name the
    upstream as their provider and have the recorded times, which jump back when a `loop` starts over.
    `simulated` is true because the quotes are not the present ones of the market: clients must know that of
    recorded quotes as of invented ones.
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
        self._reader: PairTickers = CoinbaseTickers()

    def statistics(self) -> Mapping[str, int]:
        """Returns how many messages it refused in this round, by reason."""
        return self._reader.statistics()

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Yields updates to the end of the recording; then it starts over, or yields empty updates.

        Raises UpstreamError, with the line's number, at a malformed line.
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
            # A recorded second between the rounds, so that a recording of one line does not spin.
            await self._sleep(1 / self._speed)
        while True:
            await self._sleep(BEAT_SECONDS)
            yield Update()

    def _steps(self) -> Iterator[tuple[float, Update]]:
        """Yields the updates of one round, each with its time in seconds after the start."""
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
            quotes = (quote for line in group for quote in self._reader.read([line.message], line.received))
            yield step * STEP_SECONDS, Update(newest(quotes), bars=self._reader.take_bars())


class _Line(Struct, frozen=True):
    received: float
    message: bytes


def _upstream(path: Path) -> str:
    """Returns the upstream of the recording. Raises UpstreamError for one without a decoder."""
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


def _lines(path: Path, upstream: str, reader: PairTickers) -> Iterator[_Line]:
    """Yields the recording's messages, one line at a time; gives each listing between them to the reader."""
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
        raise UpstreamError(f"{place} is not a listing: {error}") from error
    return [each for each in found if canonical_symbol(Feed.CRYPTO, each.pair) == each.pair]


def _line(place: str, line: bytes) -> _Line:
    time_text, _, message = line.partition(b" ")
    try:
        received = float(time_text)
        msgspec.json.decode(message)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(f"{place} is not a recorded message: {error}") from error
    if not 0 <= received <= LATEST:
        raise UpstreamError(f"{place} is not a recorded message: no such time")
    return _Line(received, message.strip())
