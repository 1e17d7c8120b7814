"""Look-ups of host names that users chose, apart from the look-ups of everything else.

A name server of an attacker may never answer. The event loop's own look-ups share a few threads, which slow
names would fill, so that upstreams could not reconnect. These threads are daemons: a stop does not wait.
"""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Final

from quotecast.alerts.networks import Address

#: Look-ups at once; a thread whose caller stopped waiting counts until it ends.
MAX_THREADS: Final = 16

#: Returns the addresses of a host name. Raises OSError.
Resolve = Callable[[str, int], Awaitable[list[Address]]]


class Resolver:
    """Resolves names in at most `threads` threads."""

    def __init__(self, threads: int = MAX_THREADS) -> None:
        self._free = asyncio.Semaphore(threads)

    async def __call__(self, host: str, port: int) -> list[Address]:
        """Returns the addresses of a host, each once, in the order of preference. Raises OSError."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[Address]] = loop.create_future()

        def note(addresses: list[Address], error: OSError | None) -> None:
            self._free.release()
            if found.done():
                return
            if error is None:
                found.set_result(addresses)
            else:
                found.set_exception(error)

        def work() -> None:
            addresses, error = _look_up(host, port)
            try:
                loop.call_soon_threadsafe(note, addresses, error)
            except RuntimeError:
                # The loop has closed: nobody waits.
                return

        threading.Thread(target=work, name="look-up", daemon=True).start()
        return await found


def _look_up(host: str, port: int) -> tuple[list[Address], OSError | None]:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ip_address(row[4][0]) for row in rows)), None
    except OSError as error:
        return [], error
    except (ValueError, UnicodeError):
        return [], OSError("not a host name")
