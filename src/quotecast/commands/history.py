"""`quotecast history`: lists what is recorded, and exports updates to files."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from msgspec import Struct

from quotecast.errors import InvalidValue, SettingsError
from quotecast.history.bucket import open_store
from quotecast.history.export import CHUNK_ROWS, open_writer, rows_of
from quotecast.history.moments import parse_moment
from quotecast.history.playback import COVERED_SECONDS, NotRecorded, Playback, blocks_in, span_of
from quotecast.history.segments import HistoryError, Store
from quotecast.local import console
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.settings.model import Settings, history_folder


def run(settings: Settings, arguments: Namespace) -> int:
    """Runs the action that the arguments name. Raises SettingsError or HistoryError."""
    store = open_store(settings.history_store, history_folder(settings))
    try:
        if arguments.action == "list":
            rows = [_row(store, feed) for feed in Feed]
            console.say_all(console.json_lines(rows) if arguments.json else _lines(rows))
        else:
            _export(store, arguments)
    except InvalidValue as error:
        names = {"at": "--from", "from": "--from", "to": "--to"}
        raise SettingsError(f"{names.get(error.field, error.field)}: {error}") from error
    return 0


class _Recorded(Struct):
    """The recording of a feed; without times there is none."""

    feed: Feed
    start: str | None = None
    end: str | None = None
    segments: int = 0
    updates: int = 0
    bytes: int = 0
    lost: int = 0


def _row(store: Store, feed: Feed) -> _Recorded:
    span = span_of(store, feed)
    if span is None:
        return _Recorded(feed)
    names = store.names(feed)
    updates, size, lost = map(sum, zip(*(_counts(store, feed, name) for name in names), strict=True))
    return _Recorded(feed, iso_utc(span[0]), iso_utc(span[1]), len(names), updates, size, lost)


def _lines(rows: list[_Recorded]) -> Iterator[str]:
    """Yields a line for each feed: the recorded time, its segments, updates, bytes and lost batches."""
    yield f"{'feed':<8}{'from':<26}{'to':<26}segments      updates        bytes  lost"
    for row in rows:
        if row.start is None:
            yield f"{row.feed:<8}nothing"
        else:
            counts = f"{row.segments:>8}  {row.updates:>11}  {row.bytes:>11}  {row.lost:>4}"
            yield f"{row.feed:<8}{row.start}  {row.end}  {counts}"


def _counts(store: Store, feed: Feed, name: str) -> tuple[int, int, int]:
    """Returns the updates, the bytes and the lost batches of a segment, finished or not."""
    if manifest := store.manifest(feed, name):
        return manifest.updates, manifest.size, manifest.lost
    blocks = blocks_in(store, feed, name)
    return sum(block.updates for block in blocks), blocks[-1].end if blocks else 0, 0


def _export(store: Store, arguments: Namespace) -> None:
    feed = Feed(arguments.feed)
    start, end = parse_moment("from", arguments.start), parse_moment("to", arguments.end)
    if not start < end:
        raise InvalidValue("to", "Must be later than --from")
    span = span_of(store, feed)
    if span is None or end > span[1] + COVERED_SECONDS:
        raise NotRecorded("The end is later than the last record", feed, span)
    path = Path(arguments.output)
    with closing(Playback(store, feed, start)) as playback:
        try:
            with path.open("xb") as file:
                rows = rows_of(playback, start, end)
                writer, count = open_writer(arguments.format, feed, file), 0
                while chunk := list(islice(rows, CHUNK_ROWS)):
                    writer.write(chunk)
                    count += len(chunk)
                writer.close()
        except FileExistsError as error:
            raise SettingsError(f"{path} exists already; name a new file") from error
        except OSError as error:
            path.unlink(missing_ok=True)
            raise SettingsError(f"Cannot write {path}: {error.strerror}") from error
        except HistoryError:
            path.unlink(missing_ok=True)
            raise
    console.note(f"{count} updates in {path}")
