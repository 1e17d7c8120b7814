"""Slow and faulty upstreams, as clients of the whole service see them."""

import asyncio
import itertools
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect

from fakes.binance import FakeBinance
from fakes.binance_rows import statistics
from fakes.finnhub import VERSION, FakeFinnhub
from fakes.finnhub_rows import company
from fakes.http import ENDLESS, HTML_503, TRUNCATED
from support.clients.merging_client import MergingClient
from support.clients.scraping import scrape
from support.made.binance import DAY, INFO, LISTING
from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.servers.fault_proxy import FaultProxy
from support.servers.processes import Valkey
from support.servers.service import Service
from support.servers.whole_service import SETTINGS

REQUESTS: Final = 200
SLOW_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 30.0
USUAL: Final = 100.0
BAD_PRICES: Final = ("NaN", "Infinity", "0", "-1", "", "1e400", "100000", "0.001")
BAD_MESSAGES: Final = ('{"stream":"btcusdt@ticker","data":{"c":"1', "<html></html>", "[]", "null", "{}")
BAD_ANSWERS: Final = (HTML_503, TRUNCATED, ENDLESS)


@asynccontextmanager
async def serving(valkey: Valkey, *commands: str, **settings: str) -> AsyncIterator[Service]:
    """Runs processes of the service beside upstreams on the test's own loop."""
    given = {f"QUOTECAST_{name.upper()}": value for name, value in settings.items()}
    with Service(valkey, {**SETTINGS, **given}) as service:
        await asyncio.to_thread(service.start, *commands)
        yield service


async def test_a_slow_upstream_gets_one_request(own_valkey: Valkey, figures: Figures) -> None:
    """Two hundred requests to both workers for an uncached answer cause one fetch, and all succeed.

    A worker fetches by itself when Redis takes longer than 250 ms, as on a busy machine: then both may fetch.
    """
    async with FakeFinnhub() as fake:
        fake.companies = {"AAPL": company("AAPL", fake.now())}
        address = ("127.0.0.1", int(fake.url.rpartition(":")[2]))
        with FaultProxy(lambda: socket.create_connection(address)) as proxy:
            proxy.delay = SLOW_SECONDS
            url = f"http://127.0.0.1:{proxy.port}{VERSION}"
            async with (
                serving(
                    own_valkey,
                    "ingest",
                    financials="finnhub",
                    finnhub_url=url,
                    finnhub_key="key",
                ) as service,
                httpx.AsyncClient(
                    base_url=service.url, timeout=scaled(PATIENCE_SECONDS), limits=ENOUGH
                ) as client,
            ):
                workers = [await asyncio.to_thread(service.start_measured, "api") for _ in range(2)]
                path = "/api/financials/company/AAPL/metrics"
                answers = await asyncio.gather(*(client.get(path) for _ in range(REQUESTS)))
                scrapes = [await asyncio.to_thread(scrape, worker) for worker in workers]
    absences = sum(each.value("quotecast_cache_absences_total") for each in scrapes)
    assert Counter(answer.status_code for answer in answers) == {200: REQUESTS}
    assert len({answer.content for answer in answers}) == 1
    figures.at_most("slowest answer", max(each.elapsed.total_seconds() for each in answers), 2 * SLOW_SECONDS)
    asked = Counter(each.path for each in fake.requests)
    figures.note("upstream calls", max(asked.values()), "1", "")
    assert asked.keys() == {f"{VERSION}/stock/metric", f"{VERSION}/stock/profile2"}
    assert max(asked.values()) <= (2 if absences else 1)


ENOUGH: Final = httpx.Limits(max_connections=REQUESTS)


class Watcher:
    """A client of crypto that notes every price."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._state = MergingClient()
        self.prices: dict[str, set[float]] = {}

    async def until_feed_state(self, pair: str, price: float) -> None:
        """Reads until a pair has that price."""
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            while price not in self.prices.get(pair, ()):
                self._state.take(await self._connection.recv())
                for key, quote in self._state.quotes.items():
                    self.prices.setdefault(key, set()).add(quote["price"])


@pytest.mark.vital
async def test_no_bad_value_reaches_a_client(own_valkey: Valkey) -> None:
    """The last good price replaces every bad value of the upstream, and good values still arrive."""
    async with FakeBinance(LISTING) as fake:
        # Longer than a beat and a client's interval together.
        fake.beat_seconds = 0.5
        fake.statistics = {f"{name}USDT": statistics(f"{name}USDT") for name in ("BTC", "ETH")}
        async with (
            serving(
                own_valkey,
                *("ingest", "api"),
                crypto="binance",
                binance_url=fake.url,
                binance_websocket_url=fake.websocket_url,
                binance_pairs="BTC/USDT,ETH/USDT",
            ) as service,
            connect(f"ws://127.0.0.1:{service.port}/api/ws/crypto?symbols=all&interval=100") as connection,
        ):
            watcher = Watcher(connection)
            await watcher.until_feed_state("BTC/USDT", USUAL)
            signs = itertools.count(101)
            for price in BAD_PRICES:
                # Created now: the service rejects old timestamps.
                await fake.say(fake.now_row("BTCUSDT") | {"lastPrice": price})
                await sign_of_life(fake, watcher, next(signs))
            for message in BAD_MESSAGES:
                await fake.say_raw(message)
                await sign_of_life(fake, watcher, next(signs))
            for answer in BAD_ANSWERS:
                fake.answers = {INFO: answer, DAY: answer}
                fake.abort()
                await sign_of_life(fake, watcher, next(signs))
            quote = (await asyncio.to_thread(service.get, "/api/crypto/quotes/BTC-USDT")).json()
    assert watcher.prices["BTC/USDT"] == {USUAL} == {quote["price"]}


async def sign_of_life(fake: FakeBinance, watcher: Watcher, price: int) -> None:
    """Waits for another pair's price, which the upstream sends after everything before."""
    fake.statistics["ETHUSDT"] = statistics("ETHUSDT", str(price))
    await fake.say(fake.now_row("ETHUSDT"))
    await watcher.until_feed_state("ETH/USDT", float(price))
