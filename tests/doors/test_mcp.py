"""MCP over both transports, from a running `up` to live data and over the death of both workers."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest
from mcp import Client

from docs.pages import blocks, page
from support.clients.mcp_clients import over_http, over_stdio, structured
from support.runs.deadlines import scaled
from support.servers.running_up import Up
from support.stages.door_market import Market, kill_workers

#: One symbol of each feed, and the feed's key of a symbol.
SYMBOLS = {"stocks": ("AAPL", "ticker"), "crypto": ("BTC/USDT", "ticker"), "doviz": ("gram-altin", "symbol")}
NAMES = tuple(symbol for symbol, _ in SYMBOLS.values())
#: Two clients of one address stay below its limits: 60 calls a minute each, of 120.
PACE_SECONDS = 3.0
PATIENCE_SECONDS = 60.0

pytestmark = pytest.mark.slow

Connect = Callable[[str], AbstractAsyncContextManager[Client]]


class Watcher:
    """A client that reads three quotes again and again."""

    def __init__(self, connect: Connect, url: str, *, reconnects: bool) -> None:
        self._connect = connect
        self._url = url
        self._reconnects = reconnects
        self.shown: list[tuple[str, float]] = []
        self.newest: dict[str, float] = {}

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Reads until the context ends; fails if the client does."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    async def wait_for_new(self, market: Market) -> None:
        """Waits until the client has shown a newer price of each symbol."""
        begin, deadline = dict(self.newest), time.monotonic() + scaled(PATIENCE_SECONDS)
        while not all(self.newest.get(name, begin.get(name)) != begin.get(name) for name in NAMES):
            assert time.monotonic() < deadline, f"no new prices: {self.newest}, {market.newest(NAMES)}"
            await asyncio.sleep(0.05)

    async def _watch(self) -> None:
        while True:
            try:
                async with self._connect(self._url) as client:
                    await self._read(client)
            except* AssertionError:
                raise
            except* Exception:
                # A client whose worker died ends in one of many errors of the SDK, and connects again; the
                # adapter on stdio does it by itself.
                if not self._reconnects:
                    raise
                await asyncio.sleep(0.5)

    async def _read(self, client: Client) -> None:
        while True:
            for feed, (symbol, key) in SYMBOLS.items():
                found = await structured(client, "quotes", feed=feed, symbols=[symbol])
                [quote] = found["rows"]
                assert quote[key] == symbol
                self.shown.append((symbol, quote["price"]))
                self.newest[symbol] = quote["price"]
            await asyncio.sleep(PACE_SECONDS)


def test_the_page_s_program_shows_a_live_price(up: Up, market: Market) -> None:
    """Without a change but the port."""
    [program] = blocks(page("mcp"), "python")
    program = program.replace("127.0.0.1:8000", f"127.0.0.1:{up.port}")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=scaled(60), check=True
    )
    market.require_known([("AAPL", float(done.stdout))])


async def test_a_model_reads_live_prices_over_the_death_of_both_workers(up: Up, market: Market) -> None:
    """Every price that it ever read is one that the feeds had."""
    url = f"http://127.0.0.1:{up.port}"
    http, stdio = Watcher(over_http, url, reconnects=True), Watcher(over_stdio, url, reconnects=False)
    async with http.watching(), stdio.watching():
        await asyncio.gather(http.wait_for_new(market), stdio.wait_for_new(market))
        await asyncio.to_thread(kill_workers, up)
        await asyncio.gather(http.wait_for_new(market), stdio.wait_for_new(market))
    await asyncio.to_thread(market.require_known, http.shown + stdio.shown)
