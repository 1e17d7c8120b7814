"""A process's link to the `quotecast up` that started it: one socket, inherited.

Over it the child says, once, that it is ready, and from then on that it does not hang; at its end the
child sees that its parent is gone, even if the parent was killed. (Linux could send a signal at a parent's
death, macOS could not.) Run by hand, a process has no such link: it tells the terminal, and nobody's death
ends it.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from typing import Final

#: Holds the socket's descriptor. The leading underscore keeps it apart from the settings.
VARIABLE: Final = "_QUOTECAST_PARENT"
BEAT_SECONDS: Final = 1.0


def announce(line: str) -> None:
    """Says that this process is ready, and in one line where it listens, what it serves, if it is simulated.

    Call it once. Never raises: a parent that is gone is noticed by `gone`.
    """
    link = _link()
    if link is None:
        sys.stderr.write(line + "\n")
        return
    with link, contextlib.suppress(OSError):
        link.sendall(line.encode() + b"\n")


async def beat() -> None:
    """Shows the parent once a second that the event loop turns; begin after `announce`.

    Returns only when the parent is gone, which `gone` is to tell.
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
    """Whether an `up` started this process, and perhaps others beside it that share its port."""
    return VARIABLE in os.environ


async def wait_for_parent_end() -> None:
    """Returns when the `up` that started this process has ended; never, if none did."""
    link = _link()
    if link is None:
        await asyncio.Event().wait()
        return
    with link, contextlib.suppress(ConnectionError):
        link.setblocking(False)
        # The parent never writes: whatever this returns is the end.
        await asyncio.get_running_loop().sock_recv(link, 1)


def stop_signals() -> list[signal.Signals]:
    """Returns the signals that end this process in order: SIGTERM, SIGINT and SIGHUP.

    A SIGHUP that was ignored when the process started, as under nohup, is left out. Call it before any
    handler is set.
    """
    hangup = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGTERM, signal.SIGINT, *hangup]


async def wait_for_stop() -> None:
    """Returns at one of `stop_signals`, or when the parent is gone, whichever comes first."""
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


def _link() -> socket.socket | None:
    descriptor = os.environ.get(VARIABLE)
    # A duplicate, so that closing it here leaves the inherited one as it is.
    return socket.socket(fileno=os.dup(int(descriptor))) if descriptor else None
