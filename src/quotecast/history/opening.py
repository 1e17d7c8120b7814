"""The recorded segments of an installation, where its settings say that they are."""

from pathlib import Path

from quotecast.history.bucket import SCHEME, Bucket, Joined
from quotecast.history.folder import Folder
from quotecast.history.segments import Store


def open_store(location: str, folder: Path) -> Store:
    """Returns the segments at a location, a folder or `s3://bucket/prefix`; `folder` has the newest ones.

    Raises HistoryError if a bucket's client is not installed.
    """
    return Joined(Folder(folder), Bucket(location)) if location.startswith(SCHEME) else Folder(folder)
