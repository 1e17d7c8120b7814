"""Runs commands of `quotecast` in forks of a process that has imported them: importing takes two seconds.

A fork is a process of its own, with the environment, folder and files of its request, and exits as a command
does. The server has neither threads nor event loops, so nothing of them is copied. Run as a script, this
module is the server; `forked` and `Forked` are its clients. Each test process has one server.
"""

import asyncio
import atexit
import fcntl
import functools
import gc
import importlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

_MODULES: Final = (
    *(f"quotecast.{name}" for name in ("__main__", "api.main", "api.edge.main", "ingest.main")),
    *(f"quotecast.commands.{name}" for name in ("audit", "keys", "migrate", "operators", "plans", "record")),
    *(f"quotecast.commands.{name}" for name in ("simulate", "users")),
    # Each application imports it when it is made.
    "litestar.plugins.pydantic",
)
#: The answers: the process id, then the exit code.
_NUMBER: Final = struct.Struct("!i")
_MOST_FILES: Final = 16
#: Received files wait above all numbers that requests name.
_ASIDE: Final = 512


async def forked(arguments: Sequence[str], environment: Mapping[str, str], files: Sequence[IO[bytes]]) -> int:
    """Runs a command with files as standard input, output and error output; returns its exit code.

    A number below zero is the signal that ended the command. A cancelled call kills it.
    """
    with _request(
        arguments, environment, {number: file.fileno() for number, file in enumerate(files)}
    ) as link:
        link.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_recv(link, _NUMBER.size)
        return _number(await loop.sock_recv(link, _NUMBER.size))


class Forked(subprocess.Popen[bytes]):
    """A running command, with the interface of a process that this one started, but without pipes."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], files: Mapping[int, int]
    ) -> None:
        """Starts it. `files` has its descriptors and ours that become them; the standard ones may lack."""
        self.args = ["quotecast", *arguments]
        self.stdin = self.stdout = self.stderr = None
        self.returncode: int | None = None
        self._link = _request(arguments, environment, files)
        self._hearing = threading.Lock()
        self.pid = _number(self._link.recv(_NUMBER.size))

    def __del__(self) -> None:
        """Kills what still runs."""
        self._link.close()

    def poll(self) -> int | None:
        """Returns the exit code, or None."""
        self._hear(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Returns the exit code at the command's end. Raises TimeoutExpired."""
        self._hear(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def _hear(self, timeout: float | None) -> None:
        with self._hearing:
            if self.returncode is not None:
                return
            self._link.settimeout(timeout)
            try:
                code = self._link.recv(_NUMBER.size)
            except (BlockingIOError, TimeoutError):
                return
            self.returncode = _number(code)
            self._link.close()


def _request(
    arguments: Sequence[str], environment: Mapping[str, str], given: Mapping[int, int]
) -> socket.socket:
    """Asks for a command; returns the connection with the answers, whose end kills the command."""
    ours, theirs = socket.socketpair()
    with theirs, Path(os.devnull).open("r+b") as nothing:
        files = {**dict.fromkeys(range(3), nothing.fileno()), **given}
        socket.send_fds(_server(), [b"1"], [theirs.fileno(), *files.values()])
    request = {
        "arguments": arguments,
        "environment": dict(environment),
        "folder": os.getcwd(),  # noqa: PTH109
        "numbers": [*files],
    }
    ours.sendall(json.dumps(request).encode() + b"\n")
    return ours


def _number(answer: bytes) -> int:
    (number,) = _NUMBER.unpack(answer)
    return int(number)


@functools.cache
def _server() -> socket.socket:
    """Starts the server, apart from the terminal's Ctrl-C; it ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        server = subprocess.Popen([sys.executable, __file__], stdin=theirs.fileno(), start_new_session=True)

    def stop() -> None:
        ours.close()
        server.wait()

    atexit.register(stop)
    return ours


def _serve(requests: socket.socket) -> None:
    """Forks a supervisor for each request, until the client closes; returns only in the fork of a command."""
    for name in _MODULES:
        importlib.import_module(name)
    # A fork's collections would look through all that is loaded, and copy its pages.
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "a fork would lack the threads"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for supervisors
    while True:
        _, descriptors, _, _ = socket.recv_fds(requests, 1, _MOST_FILES)
        if not descriptors:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _supervise(descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)


def _supervise(descriptors: list[int]) -> None:
    """Forks the command, answers its id and exit code, and kills it without a client.

    Returns only in the fork.
    """
    client = socket.socket(fileno=descriptors[0])
    with client.makefile("rb") as lines:
        request = json.loads(lines.readline() or b"null")
    if request is None:
        os._exit(1)
    if (command := os.fork()) == 0:
        client.close()
        _become(request, descriptors[1:])
        return
    for descriptor in descriptors[1:]:
        os.close(descriptor)

    # Once it is reaped, its id may be another process's.
    reaping, is_reaped = threading.Lock(), False

    def kill_without_client() -> None:
        if not client.recv(1):
            with reaping:
                if not is_reaped:
                    os.kill(command, signal.SIGKILL)

    client.send(_NUMBER.pack(command))
    threading.Thread(target=kill_without_client, daemon=True).start()
    os.waitid(os.P_PID, command, os.WEXITED | os.WNOWAIT)
    with reaping:
        _, status = os.waitpid(command, 0)
        is_reaped = True
    client.send(_NUMBER.pack(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Gives this process the files, environment, folder and arguments of a command."""
    aside = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _ASIDE) for descriptor in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    for number, descriptor in zip(request["numbers"], aside, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    sys.argv[1:] = request["arguments"]


if __name__ == "__main__":
    with socket.socket(fileno=os.dup(0)) as _requests:
        _serve(_requests)
    try:
        _code = importlib.import_module("quotecast.__main__").main()
    except SystemExit as _end:
        _code = _end.code
    sys.stdout.flush()
    # The interpreter's end would write to all pages that the fork shares: most of a short command's time.
    os._exit(_code)
