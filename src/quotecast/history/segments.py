"""Segments: files with at most ten minutes of one feed and epoch, and what their names and manifests say.

`<feed>/20261120T143000.012Z-1f0c9ae2.segment` begins with a keyframe at that time. The token belongs to one
ingest, so two of them never write one file. A finished segment has a manifest beside it.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import BinaryIO, Final, Protocol

import msgspec
from msgspec import Struct

from quotecast.errors import QuotecastError
from quotecast.market.feeds import Feed

SEGMENT_SECONDS: Final = 600
SUFFIX: Final = ".segment"
MANIFEST_SUFFIX: Final = ".json"
_NAME: Final = re.compile(r"\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}")
_TIME: Final = "%Y%m%dT%H%M%S.%f"


class HistoryError(QuotecastError):
    """The recorded past cannot be read or written."""

    status = 503
    code = "history"
    cause = "the recorded past cannot be read now"
    remedy = "try again later"


class Manifest(Struct, frozen=True, kw_only=True):
    """The contents of a finished segment."""

    feed: Feed
    segment: str
    #: Unix times of the first and the last record.
    first: float
    last: float
    epoch: str
    first_seq: int
    last_seq: int
    keyframes: int
    updates: int
    size: int
    #: Batches that the recorder lost just before a keyframe of this segment.
    lost: int = 0


class Store(Protocol):
    """Segments in a folder, or in a bucket too. Reading raises HistoryError."""

    def names(self, feed: Feed) -> list[str]:
        """Returns the names of a feed's segments, in the order of time."""
        ...

    def open(self, feed: Feed, name: str) -> BinaryIO:
        """Opens a segment."""
        ...

    def manifest(self, feed: Feed, name: str) -> Manifest | None:
        """Returns the manifest of a finished segment; None without one."""
        ...


_decoder: Final = msgspec.json.Decoder(Manifest)


def segment_name(first: float, token: str) -> str:
    """Returns the name of a segment, without suffix: names sort by time."""
    return f"{datetime.fromtimestamp(first, UTC):{_TIME}}"[:-3] + f"Z-{token}"


def names_among(files: Iterable[str]) -> list[str]:
    """Returns the names of segments among names of files, in the order of time."""
    names = (file.removesuffix(SUFFIX) for file in files if file.endswith(SUFFIX))
    return sorted(name for name in names if _NAME.fullmatch(name))


def path_of(feed: Feed, name: str, suffix: str) -> str:
    """Returns the path of a file of a segment in its store. Raises HistoryError for another name."""
    if not _NAME.fullmatch(name):
        raise HistoryError("not a segment name")
    return f"{feed}/{name}{suffix}"


def begin_of(name: str) -> float:
    """Returns the Unix time at which a segment begins, in whole milliseconds."""
    return datetime.strptime(name.partition("Z")[0], _TIME).replace(tzinfo=UTC).timestamp()


def slot_of(time: float) -> int:
    """Returns the number of the ten minutes that a time belongs to; a segment has records of one."""
    return int(time // SEGMENT_SECONDS)


def decode_manifest(data: bytes) -> Manifest | None:
    """Returns a manifest; None for data that no known version wrote."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
