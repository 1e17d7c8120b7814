"""Export of recorded updates to files that others read: a row for each changed or removed quote."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final, Literal, Protocol

import msgspec
from msgspec.structs import fields

from quotecast.bus.base import Batch
from quotecast.bus.wire import decode_quote
from quotecast.history.playback import Playback
from quotecast.history.segments import HistoryError
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.moves import common_fields
from quotecast.market.quotes import Quote

Format = Literal["parquet", "csv", "ndjson"]
#: The extra of the package that parquet needs.
EXTRA: Final = "history-export"
#: Rows that an export holds in memory.
CHUNK_ROWS: Final = 10_000

#: Unix time of publication, epoch, seq, key, and the quote; None for a removal.
Row = tuple[float, str, int, str, Quote | None]
_PLACE: Final = ("published", "epoch", "seq", "removed")


class ExportWriter(Protocol):
    """Writes rows in one format."""

    def write(self, rows: Sequence[Row]) -> None:
        """Appends rows."""
        ...

    def close(self) -> None:
        """Writes what the format has at its end."""
        ...


def rows_of(playback: Playback, start: float, end: float) -> Iterator[Row]:
    """Yields the updates published from `start` to before `end`, in the order of the feed."""
    while messages := playback.read(end):
        for time, message in messages:
            if isinstance(message, Batch) and start <= time < end:
                place = (time, message.epoch, message.seq)
                for change in message.changes:
                    quote = decode_quote(change.quote)
                    yield (*place, quote.key, quote)
                for key in message.removed:
                    yield (*place, key, None)


def open_writer(form: Format, feed: Feed, file: BinaryIO) -> ExportWriter:
    """Returns the writer of a format. Raises HistoryError if it needs a package that is not installed."""
    return _WRITERS[form](feed, file)


class _Lines:
    """Newline-delimited JSON."""

    def __init__(self, feed: Feed, file: BinaryIO) -> None:
        self._row_of = _mapper(feed)
        self._file = file
        self._encoder = msgspec.json.Encoder()

    def write(self, rows: Sequence[Row]) -> None:
        self._file.write(b"".join(self._encoder.encode(self._row_of(row)) + b"\n" for row in rows))

    def close(self) -> None:
        self._file.flush()


class _Csv:
    """Comma-separated values (RFC 4180) with a line of names; an unknown value is empty."""

    def __init__(self, feed: Feed, file: BinaryIO) -> None:
        self._row_of = _mapper(feed)
        self._text = io.TextIOWrapper(file, "utf-8", newline="")
        self._writer = csv.writer(self._text)
        self._writer.writerow([*_PLACE, *(field.encode_name for field in common_fields(feed.spec.quote))])

    def write(self, rows: Sequence[Row]) -> None:
        self._writer.writerows(list(self._row_of(row).values()) for row in rows)

    def close(self) -> None:
        self._text.flush()
        self._text.detach()


class _Parquet:
    """Parquet, compressed by zstd; `published` is a timestamp in microseconds, UTC."""

    def __init__(self, feed: Feed, file: BinaryIO) -> None:
        try:
            import pyarrow as pa  # noqa: PLC0415 - an extra of 170 MB
            from pyarrow import parquet  # noqa: PLC0415
        except ImportError:
            raise HistoryError(f"parquet needs the extra: pip install 'quotecast[{EXTRA}]'") from None
        kinds = {float: pa.float64(), str: pa.string()}
        place = [
            ("published", pa.timestamp("us", "UTC")),
            ("epoch", pa.string()),
            ("seq", pa.int64()),
            ("removed", pa.bool_()),
        ]
        self._row_of = _mapper(feed)
        self._pa = pa
        # A quote's fields are numbers and texts.
        columns = [
            (field.encode_name, kinds[float if field.type in {float, float | None} else str])
            for field in common_fields(feed.spec.quote)
        ]
        self._schema = pa.schema([*place, *columns])
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")

    def write(self, rows: Sequence[Row]) -> None:
        mapped = [self._row_of(row) | {"published": datetime.fromtimestamp(row[0], UTC)} for row in rows]
        self._writer.write_table(self._pa.Table.from_pylist(mapped, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


_WRITERS: Final[dict[Format, Callable[[Feed, BinaryIO], ExportWriter]]] = {
    "parquet": _Parquet,
    "csv": _Csv,
    "ndjson": _Lines,
}


def _mapper(feed: Feed) -> Callable[[Row], dict[str, Any]]:
    """Returns a function from a row to its values by column; a removal has its key alone."""
    names = [(field.name, field.encode_name) for field in common_fields(feed.spec.quote)]
    key_name = fields(feed.spec.move)[0].name

    def row_of(row: Row) -> dict[str, Any]:
        time, epoch, seq, key, quote = row
        values = {
            encoded: getattr(quote, name, None) if quote else (key if name == key_name else None)
            for name, encoded in names
        }
        return {"published": iso_utc(time), "epoch": epoch, "seq": seq, "removed": quote is None, **values}

    return row_of
