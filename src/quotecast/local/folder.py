"""The data folder of `up`, which one `up` at a time uses."""

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
    """Gives the folder, created if missing, and locks it against a second `up`.

    Raises SettingsError if the folder is not writable or another `up` holds the lock.
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
    """Gives an empty folder for Unix sockets, and removes it at the end.

    It lies in the data folder if a socket can be bound there, else in the system's temporary folder: a
    socket's path may have about 100 bytes, and some mounts reject sockets.
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
    # PostgreSQL's name, the longest one.
    trial = place / ".s.PGSQL.5432"
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(trial))
        except OSError:
            return False
    trial.unlink()
    return True
