"""The sockets that a process holds open, by the kernel's tables."""

import contextlib
import socket
from pathlib import Path


def sockets_of(pid: int) -> set[int]:
    """Returns the inodes of a process's sockets."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        # A file may close while this reads the list.
        with contextlib.suppress(FileNotFoundError):
            kind, _, inode = link.readlink().name.partition(":")
            if kind == "socket":
                inodes.add(int(inode.strip("[]")))
    return inodes


def unix_sockets() -> set[int]:
    """Returns the inodes of this machine's Unix sockets."""
    return {int(row[6]) for row in _table("unix")}


def server_end(client: socket.socket) -> int:
    """Returns the inode of the socket that the server has accepted for a local client."""
    ports = [client.getpeername()[1], client.getsockname()[1]]
    return next(int(row[9]) for row in _table("tcp") if [_port(each) for each in row[1:3]] == ports)


def _table(name: str) -> list[list[str]]:
    return [line.split() for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)
