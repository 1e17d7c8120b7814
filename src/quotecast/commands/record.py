"""`quotecast record`: writes an upstream's messages to a file, in the format of the provider `replay`."""

import asyncio
import contextlib
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from quotecast.environment import PREFIX
from quotecast.errors import QuotecastError, SettingsError
from quotecast.ingest import sources
from quotecast.ingest.supervise import pump
from quotecast.local import console
from quotecast.market.feeds import Feed
from quotecast.observe.logs import configure_logs
from quotecast.providers.base import QuoteProvider, Update, unlimited
from quotecast.providers.offers import offer_of
from quotecast.providers.replay.client import HEADING, LISTING
from quotecast.providers.transport.recording import Instrument, recording
from quotecast.settings.model import Settings

RECORDABLE: Final = ("binance", "coinbase", "kraken")
PROGRESS_SECONDS: Final = 5.0
LONGEST_SECONDS: Final = 7 * 86_400.0


def run(settings: Settings, arguments: Namespace) -> int:
    """Records for the given seconds, or until Ctrl-C.

    Raises SettingsError for wrong arguments. Raises QuotecastError, and leaves no file, if no message came.
    """
    if arguments.provider not in RECORDABLE:
        raise SettingsError(f"Cannot record {arguments.provider!r}: name one of {', '.join(RECORDABLE)}")
    if not 0 < arguments.seconds <= LONGEST_SECONDS:
        raise SettingsError(f"--seconds: must be above 0 and at most {LONGEST_SECONDS:.0f}, which is a week")
    configure_logs(level=settings.log_level, as_json=False)
    for problem in offer_of(arguments.provider).problems(settings.own[arguments.provider]):
        raise SettingsError(f"{PREFIX}{arguments.provider.upper()}_{problem}")
    provider = sources.quote_provider(arguments.provider, Feed.CRYPTO, settings, lambda *_: unlimited)
    path = Path(arguments.file)
    try:
        with path.open("xb") as file, contextlib.suppress(KeyboardInterrupt):
            file.write(HEADING + provider.name.encode() + b"\n")
            writer = RecordingWriter(file, time.time)
            asyncio.run(record(provider, writer, arguments.seconds, say=console.note))
    except FileExistsError as error:
        raise SettingsError(f"{path} exists already; name a new file") from error
    except OSError as error:
        raise SettingsError(f"Cannot write {path}: {error.strerror}") from error
    if not writer.messages:
        path.unlink()
        raise QuotecastError(f"{arguments.provider} sent no message; removed {path}")
    return 0


class RecordingWriter:
    """Writes a recording to a file: a line for each message, and one for each new listing."""

    def __init__(self, file: BinaryIO, clock: Callable[[], float]) -> None:
        #: Number of written messages.
        self.messages = 0
        self._file = file
        self._clock = clock
        self._listing: Sequence[Instrument] | None = None

    def write_message(self, message: bytes) -> None:
        """Writes the Unix time and the message; skips a message that is not JSON."""
        with contextlib.suppress(msgspec.DecodeError):
            # Formatted to one line, whatever line breaks the upstream sends.
            self._file.write(b"%.6f %b\n" % (self._clock(), msgspec.json.format(message, indent=-1)))
            self.messages += 1

    def write_listing(self, instruments: Sequence[Instrument]) -> None:
        """Writes the pairs of the messages that follow, if they changed."""
        if instruments != self._listing:
            self._listing = instruments
            self._file.write(LISTING + msgspec.json.encode(instruments) + b"\n")


async def record(
    provider: QuoteProvider, writer: RecordingWriter, seconds: float, *, say: Callable[[str], None]
) -> None:
    """Connects to the upstream for `seconds`, and writes its messages; `say` gets a line on progress."""
    quotes = 0

    def take(update: Update) -> None:
        nonlocal quotes
        quotes += len(update.quotes)

    async def progress() -> None:
        while True:
            await asyncio.sleep(PROGRESS_SECONDS)
            say(f"{writer.messages} messages, {quotes} quotes")

    with contextlib.suppress(TimeoutError), recording(writer):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as tasks:
            tasks.create_task(pump(provider, take))
            tasks.create_task(progress())
    say(f"{writer.messages} messages, {quotes} quotes in all")
