"""The disks of a world: calls of the operating system on files below one folder, which may fail on a host."""

import errno
import io
import os
import random
from pathlib import Path
from typing import Any, Final

from world.clock import PROCESS

#: Calls that find a file by its path, and change or list it.
_BY_PATH: Final = ("mkdir", "unlink", "listdir", "scandir")


class Disk:
    """The disk as the processes of one host see it."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        #: Bytes that still find room; None while there is enough of it.
        self.room: int | None = None
        #: How many of its calls end with an I/O error.
        self.broken_share = 0.0

    def check(self) -> None:
        """Raises OSError for some calls while the disk is broken, or for all."""
        if self.broken_share and self._chance.random() < self.broken_share:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def take(self, size: int) -> int:
        """Returns how many of some bytes find room, one at least. Raises OSError."""
        self.check()
        if self.room is None:
            return size
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = min(size, self.room)
        self.room -= taken
        return taken


class Disks:
    """The disks of all hosts, which share the files below a folder."""

    def __init__(self, folder: str, seed: int) -> None:
        self._folder = folder
        self._seed = seed
        self._by_host: dict[str, Disk] = {}
        self._descriptors: set[int] = set()

    def of(self, host: str) -> Disk:
        """Returns the disk of a host."""
        if host not in self._by_host:
            self._by_host[host] = Disk(random.Random(f"disk of {host} of {self._seed}"))
        return self._by_host[host]

    def present(self) -> Disk:
        """Returns the disk of the host whose process runs."""
        process = PROCESS.get(None)
        return self.of("" if process is None else process.host.name)

    def install(self) -> None:
        """Puts the disks between this process and the operating system, as far as the service uses it.

        What is written need not outlast the machine.
        """
        for name in _BY_PATH:
            setattr(os, name, self._by_path(getattr(os, name)))
        for name in ("open", "write", "ftruncate", "close"):
            setattr(os, name, getattr(self, f"_{name}")(getattr(os, name)))
        os.fsync = self._sync
        io.open = self._open_file(io.open)

    def _sync(self, fd: Any) -> None:
        del fd
        self.present().check()

    def _has(self, path: Any) -> bool:
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self._folder)

    def _by_path(self, call: Any) -> Any:
        def checked(path: Any = ".", *arguments: Any, **options: Any) -> Any:
            if self._has(path):
                self.present().check()
            return call(path, *arguments, **options)

        return checked

    def _open(self, call: Any) -> Any:
        def opened(path: Any, *arguments: Any, **options: Any) -> int:
            if not self._has(path):
                return int(call(path, *arguments, **options))
            self.present().check()
            descriptor = int(call(path, *arguments, **options))
            self._descriptors.add(descriptor)
            return descriptor

        return opened

    def _write(self, call: Any) -> Any:
        def write(descriptor: int, data: Any) -> int:
            size = self.present().take(len(data)) if descriptor in self._descriptors else len(data)
            return int(call(descriptor, memoryview(data)[:size]))

        return write

    def _ftruncate(self, call: Any) -> Any:
        def truncate(descriptor: int, length: int) -> None:
            self.present().check()
            call(descriptor, length)

        return truncate

    def _close(self, call: Any) -> Any:
        def close(descriptor: int) -> None:
            call(descriptor)
            if descriptor in self._descriptors:
                self._descriptors.discard(descriptor)
                self.present().check()

        return close

    def _open_file(self, call: Any) -> Any:
        def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if not self._has(file):
                return call(file, mode, *arguments, **options)
            self.present().check()
            raw = _File(file, mode, self)
            return io.BufferedReader(raw) if mode == "rb" else io.BufferedWriter(raw)

        return opened


class _File(io.FileIO):
    """An open file on these disks, without a buffer."""

    def __init__(self, path: Path, mode: str, disks: Disks) -> None:
        super().__init__(path, mode)
        self._disks = disks

    def readinto(self, buffer: Any, /) -> int | None:
        """Reads some bytes. Raises OSError."""
        self._disks.present().check()
        return super().readinto(buffer)

    def readall(self) -> bytes:
        """Reads the rest. Raises OSError."""
        self._disks.present().check()
        return super().readall()

    def write(self, data: Any, /) -> int:
        """Writes what finds room. Raises OSError."""
        return super().write(memoryview(data)[: self._disks.present().take(len(data))])
