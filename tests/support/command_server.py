"""Runs commands of `quotecast` in forks of a process that has imported them: importing takes a second.

A fork is a process of its own, with the environment, folder and files of its request, and exits as a command
does. Run as a script, this module is the server; `forked` is its client. Each test process has one server.
"""

import asyncio
import atexit
import functools
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final

_MODULES: Final = ("__main__", *(f"commands.{name}" for name in ("keys", "operators", "plans", "users")))


async def forked(arguments: Sequence[str], environment: Mapping[str, str], files: Sequence[IO[bytes]]) -> int:
    """Runs a command with files as standard input, output and error output; returns its exit code.

    A number below zero is the signal that ended the command. A cancelled call kills it.
    """
    request = {"arguments": arguments, "environment": dict(environment), "folder": os.getcwd()}  # noqa: PTH109
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            socket.send_fds(_server(), [b"1"], [theirs.fileno(), *(file.fileno() for file in files)])
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(ours, json.dumps(request).encode() + b"\n")
        code = await loop.sock_recv(ours, 16)
    return int(code)


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
        importlib.import_module(f"quotecast.{name}")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for supervisors
    while True:
        _, descriptors, _, _ = socket.recv_fds(requests, 1, 4)
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
    """Forks the command, answers its exit code, and kills it without a client; returns only in the fork."""
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

    def kill_without_client() -> None:
        if not client.recv(1):
            os.kill(command, signal.SIGKILL)

    threading.Thread(target=kill_without_client, daemon=True).start()
    _, status = os.waitpid(command, 0)
    client.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Gives this process the files, environment, folder and arguments of a command."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv[1:] = request["arguments"]


if __name__ == "__main__":
    with socket.socket(fileno=os.dup(0)) as _requests:
        _serve(_requests)
    sys.exit(importlib.import_module("quotecast.__main__").main())
