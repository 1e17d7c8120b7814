"""A child process's link to the `quotecast up` that started it: one inherited socket.

The child reports over it, once, that it is ready, and then sends heartbeats. The socket's end shows the child
that its parent ended, even if the parent was killed. (Linux can send a signal at a parent's death, macOS
cannot.) A process that a user started has no such link: it reports to the terminal, and runs until a signal.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Final

#: Holds the socket's descriptor. The leading underscore keeps it apart from the settings.
VARIABLE: Final = "_QUOTECAST_PARENT"
BEAT_SECONDS: Final = 1.0


def announce(line: str) -> None:
    """Reports that this process is ready, with one line on its address and its data.

    Call it once. Never raises: `wait_for_parent_end` notices a parent that ended.
    """
    link = _link()
    if link is None:
        sys.stderr.write(line + "\n")
        return
    with link, contextlib.suppress(OSError):
        link.sendall(line.encode() + b"\n")


async def beat() -> None:
    """Sends a heartbeat to the parent once a second; start it after `announce`.

    Returns only when the parent has ended, which `wait_for_parent_end` reports.
    """
    link = _link()
    if link is None:
        await asyncio.Event().wait()
        return
    with link, contextlib.suppress(OSError):
        link.setblocking(False)
        while True:
            await asyncio.get_running_loop().sock_sendall(link, b"\n")
            await asyncio.sleep(BEAT_SECONDS)


def has_parent() -> bool:
    """Returns whether an `up` started this process, perhaps with others that share its port."""
    return VARIABLE in os.environ


async def wait_for_parent_end() -> None:
    """Returns when the `up` that started this process has ended; never without an `up`."""
    link = _link()
    if link is None:
        await asyncio.Event().wait()
        return
    with link, contextlib.suppress(ConnectionError):
        link.setblocking(False)
        # The parent never writes, so a return means that the socket has ended.
        await asyncio.get_running_loop().sock_recv(link, 1)


def stop_signals() -> list[signal.Signals]:
    """Returns the signals that stop this process in an orderly way: SIGTERM, SIGINT and SIGHUP.

    Leaves out SIGHUP if the process started with it ignored, as under nohup. Call it before setting handlers.
    """
    hangup = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGTERM, signal.SIGINT, *hangup]


async def wait_for_stop() -> None:
    """Returns at one of `stop_signals` or at the parent's end, whichever comes first."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in stop_signals():
        loop.add_signal_handler(number, stop.set)
    orphaned = asyncio.create_task(wait_for_parent_end())
    orphaned.add_done_callback(lambda _: stop.set())
    try:
        await stop.wait()
    finally:
        orphaned.cancel()


async def run_until_stopped(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Runs the tasks until a stop, or until one of them ends; cancels the others.

    Raises the exception of a task that failed.
    """
    running = [asyncio.create_task(wait_for_stop()), *tasks]
    try:
        ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _link() -> socket.socket | None:
    descriptor = os.environ.get(VARIABLE)
    # A duplicate, so that closing it here leaves the inherited descriptor open.
    return socket.socket(fileno=os.dup(int(descriptor))) if descriptor else None
