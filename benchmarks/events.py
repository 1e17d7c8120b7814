"""`python -m benchmarks.events [LISTENERS] [SECONDS]`: event streams by our server, and by granian.

Both are in one worker and get the same frames: the market, 500 symbols that each move four times a second.
"""

import asyncio
import os
import sys
from typing import Final

from benchmarks.contenders import quotecast
from benchmarks.fanout import LISTENERS, MARKET
from benchmarks.processes import HOST, LOAD_CORE, cpu_seconds

SECONDS: Final = 10.0
SETTLING_SECONDS: Final = 2.0
REQUEST: Final = "GET /api/sse/market?symbols={symbols} HTTP/1.1\r\nHost: test\r\n{headers}\r\n"
#: Streams to compare: the symbols, and more headers of the request.
LOADS: Final = {
    "all": ("all", ""),
    "all, gzip": ("all", "Accept-Encoding: gzip\r\n"),
    "one": ("AAPL", ""),
}


class Listener(asyncio.Protocol):
    """Counts the bytes of an event stream."""

    def __init__(self, request: bytes) -> None:
        self.received = 0
        self._request = request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Sends the request."""
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Counts."""
        self.received += len(data)


async def listen(port: int, pids: list[int], load: str, listeners: int, seconds: float) -> float:
    """Returns megabytes sent per second of the server's CPU."""
    symbols, headers = LOADS[load]
    request = REQUEST.format(symbols=symbols, headers=headers).encode()
    loop = asyncio.get_running_loop()
    opened = [await loop.create_connection(lambda: Listener(request), HOST, port) for _ in range(listeners)]
    await asyncio.sleep(SETTLING_SECONDS)
    cpu, before = cpu_seconds(pids), sum(listener.received for _, listener in opened)
    await asyncio.sleep(seconds)
    received = sum(listener.received for _, listener in opened) - before
    used = cpu_seconds(pids) - cpu
    for transport, _ in opened:
        transport.abort()
    return received / 1e6 / used


async def main() -> None:
    """Prints a line for each load."""
    listeners = int(sys.argv[1]) if len(sys.argv) > 1 else LISTENERS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    os.sched_setaffinity(0, {LOAD_CORE})
    with quotecast(MARKET) as server:
        for load in LOADS:
            own = await listen(server.feed_port, server.pids, load, listeners, seconds)
            granian = await listen(server.port, server.pids, load, listeners, seconds)
            sys.stdout.write(
                f"{load}: {own:.1f} MB per CPU s, granian {granian:.1f}: {own / granian:.1f} x\n"
            )


if __name__ == "__main__":
    asyncio.run(main())
