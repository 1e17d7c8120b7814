"""The data folder: what `up` keeps there, for one `up` at a time."""

import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from quotecast.errors import SettingsError
from quotecast.local import locks


@contextlib.contextmanager
def hold_folder(path: Path) -> Iterator[Path]:
    """The folder, made if it is missing and held against a second `up`.

    Raises SettingsError if it cannot be written or another `up` holds it.
    """
    folder = path.resolve()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = locks.take(folder / "up.lock")
    except OSError as error:
        raise SettingsError(f"QUOTECAST_DATA_DIR: cannot write in {folder}: {error.strerror}") from error
    if lock is None:
        raise SettingsError(f"Another `quotecast up` uses {folder}; set QUOTECAST_DATA_DIR to another folder")
    try:
        yield folder
    finally:
        os.close(lock)


@contextlib.contextmanager
def socket_folder(folder: Path) -> Iterator[Path]:
    """An empty folder for Unix sockets, removed at the end.

    It lies in the data folder, unless no socket can be bound there: a socket's path holds about 100
    bytes, and not every mount takes sockets. Then it is a temporary one.
    """
    place = folder / "sockets"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    if not _takes_sockets(place):
        place.rmdir()
        place = Path(tempfile.mkdtemp(prefix="quotecast-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _takes_sockets(place: Path) -> bool:
    # The longest name there will be: PostgreSQL chooses it.
    trial = place / ".s.PGSQL.5432"
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(trial))
        except OSError:
            return False
    trial.unlink()
    return True
