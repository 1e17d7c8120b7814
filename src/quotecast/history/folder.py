"""The segments in a folder: a folder for each feed, and in it a file for each segment."""

import contextlib
from pathlib import Path
from typing import BinaryIO

from quotecast.history.segments import (
    MANIFEST_SUFFIX,
    SUFFIX,
    HistoryError,
    Manifest,
    decode_manifest,
    names_among,
    path_of,
)
from quotecast.market.feeds import Feed


class Folder:
    """Reads and deletes segments below a folder; a file with another name than a segment's is not seen."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self, feed: Feed) -> list[str]:
        """Returns the names of a feed's segments, in the order of time. Raises HistoryError."""
        try:
            # Newer Pythons' `Path.glob` finds nothing in a folder that cannot be read.
            return names_among(path.name for path in (self._root / feed).iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise HistoryError(f"the folder of segments cannot be read: {error.strerror}") from error

    def open(self, feed: Feed, name: str) -> BinaryIO:
        """Opens a segment. Raises HistoryError, also for a segment that was deleted meanwhile."""
        try:
            return self.path(feed, name, SUFFIX).open("rb")
        except OSError as error:
            raise HistoryError(f"the segment {name} cannot be read: {error.strerror}") from error

    def manifest(self, feed: Feed, name: str) -> Manifest | None:
        """Returns the manifest of a finished segment; None for an open one, and one that a crash ended."""
        try:
            return decode_manifest(self.path(feed, name, MANIFEST_SUFFIX).read_bytes())
        except OSError:
            return None

    def delete(self, feed: Feed, name: str) -> None:
        """Deletes a segment and its manifest."""
        for suffix in (MANIFEST_SUFFIX, SUFFIX):
            with contextlib.suppress(OSError):
                self.path(feed, name, suffix).unlink()

    def path(self, feed: Feed, name: str, suffix: str) -> Path:
        """Returns the path of a file of a segment. Raises HistoryError for another name."""
        return self._root / path_of(feed, name, suffix)
