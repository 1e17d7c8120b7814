"""`quotecast record`: writes what an upstream sends, in the form that `replay` plays."""

import asyncio
import contextlib
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from quotecast.errors import QuotecastError, SettingsError
from quotecast.ingest import sources
from quotecast.ingest.supervise import pump
from quotecast.providers.base import QuoteProvider, Update
from quotecast.providers.recording import recording
from quotecast.providers.replay import HEADING, READERS
from quotecast.settings import Settings
from quotecast.telemetry import configure_logs

PROGRESS_SECONDS: Final = 5.0
LONGEST_SECONDS: Final = 7 * 86_400.0


class NothingRecorded(QuotecastError):
    """The upstream sent nothing that could be played."""

    code = "nothing_recorded"


def run(settings: Settings, arguments: Namespace) -> int:
    """Records for so many seconds, or until Ctrl-C.

    Raises SettingsError if that cannot be done, NothingRecorded, and leaves no file, if no message came.
    """
    if arguments.provider not in READERS:
        raise SettingsError(
            f"There is nothing to record of {arguments.provider!r}: one of {', '.join(READERS)}"
        )
    if not 0 < arguments.seconds <= LONGEST_SECONDS:
        raise SettingsError(f"--seconds: above 0, and at most {LONGEST_SECONDS:.0f}, which is a week")
    configure_logs(level=settings.log_level, as_json=False)
    provider = sources.crypto_provider(arguments.provider, settings)
    path = Path(arguments.file)
    heading = HEADING + arguments.provider.encode() + b"\n"
    try:
        with path.open("xb") as file, contextlib.suppress(KeyboardInterrupt):
            file.write(heading)
            asyncio.run(record(provider, file, arguments.seconds, say=_say))
    except FileExistsError as error:
        raise SettingsError(f"{path} is there already; recordings are not overwritten") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}") from error
    if path.stat().st_size == len(heading):
        path.unlink()
        raise NothingRecorded(f"{arguments.provider} sent no message; {path} was not kept")
    return 0


async def record(
    provider: QuoteProvider,
    file: BinaryIO,
    seconds: float,
    *,
    say: Callable[[str], None],
    clock: Callable[[], float] = time.time,
) -> None:
    """Follows the upstream and writes each message after the Unix time at which it came."""
    written = quotes = 0

    def sink(message: bytes) -> None:
        nonlocal written
        # One line each, however the upstream breaks its lines; what is no JSON could not be played.
        with contextlib.suppress(msgspec.DecodeError):
            file.write(b"%.6f %b\n" % (clock(), msgspec.json.format(message, indent=-1)))
            written += 1

    def take(update: Update) -> None:
        nonlocal quotes
        quotes += len(update.quotes)

    async def progress() -> None:
        while True:
            await asyncio.sleep(PROGRESS_SECONDS)
            say(f"{written} messages, {quotes} quotes")

    with contextlib.suppress(TimeoutError), recording(sink):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as tasks:
            tasks.create_task(pump(provider, take))
            tasks.create_task(progress())
    say(f"{written} messages, {quotes} quotes in all")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
