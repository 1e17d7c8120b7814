"""A rolling restart under load: new workers replace old ones behind haproxy.

As a program it prints the measurements; deploy/rolling-restart starts it.
"""

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import httpx
import websockets.asyncio.client
from websockets.exceptions import ConnectionClosed

from deploy.balancer import POLICY, Balancer, running_balancer
from support.clients.merging_client import MergingClient
from support.runs.deadlines import scaled
from support.servers.processes import Valkey, running_valkey
from support.servers.service import Service

PATIENCE_SECONDS = 60.0
QUOTES = "/api/market/quotes?symbols=AAPL,MSFT,NVDA"
FEED = "/api/ws/market?symbols=AAPL,MSFT,NVDA"


@dataclass(slots=True)
class RolloutFigures:
    """What the clients measured."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    #: HTTP requests without a complete answer, or with another status than 200.
    lost: list[str] = field(default_factory=list)
    feeds: int = 0
    #: Seconds of each reconnection beyond the delay in the shutdown frame.
    beyond_told: list[float] = field(default_factory=list)
    #: Reconnections whose snapshot was not a resume.
    not_resumed: int = 0
    #: Feed connections that ended without a shutdown frame.
    closed_without_notice: int = 0

    def lines(self) -> Iterator[str]:
        """Returns the figures as text."""
        self.latencies.sort()
        worst = max(self.beyond_told, default=0.0)
        yield f"HTTP: {len(self.latencies)} requests in {self.seconds:.1f} s, {len(self.lost)} lost"
        yield f"      p99 {self._percentile(0.99) * 1000:.1f} ms, slowest {self._percentile(1) * 1000:.1f} ms"
        yield f"feeds: {self.feeds} clients came back {len(self.beyond_told)} times"
        yield f"      {self.closed_without_notice} closed without notice, {self.not_resumed} not resumed"
        yield f"      the last was back {worst:.2f} s after its announced delay"

    def _percentile(self, share: float) -> float:
        return self.latencies[min(int(len(self.latencies) * share), len(self.latencies) - 1)]


class Generations(NamedTuple):
    """Running workers, and those that replace them."""

    old: Sequence[Service]
    new: Sequence[Service]


class RolloutClient:
    """A frontend that reconnects with its cursor after a shutdown frame."""

    def __init__(self, url: str, figures: RolloutFigures) -> None:
        self._url = url
        self._figures = figures
        self._state = MergingClient()
        self._told_at = 0.0
        self._delay: float | None = None
        self._connection: websockets.asyncio.client.ClientConnection | None = None
        self._synchronized = asyncio.Event()

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            since = f"&since={self._state.since}" if self._state.epoch else ""
            with contextlib.suppress(ConnectionClosed, OSError, websockets.InvalidStatus):
                async with websockets.asyncio.client.connect(self._url + since, max_size=None) as connection:
                    self._connection = connection
                    async for message in connection:
                        self._handle_frame(message)
            self._synchronized.clear()
            self._figures.closed_without_notice += self._delay is None
            await asyncio.sleep(self._delay or 1.0)

    async def await_synchronized(self) -> None:
        """Returns once the client has a snapshot of a worker that still runs.

        The end of a connection is read after its worker's exit, and until then the client looks synchronized.
        An answered ping tells the two apart.
        """
        while True:
            await self._synchronized.wait()
            assert self._connection is not None
            try:
                answered = await self._connection.ping()
                await answered
            except ConnectionClosed:
                self._synchronized.clear()
            else:
                return

    def _handle_frame(self, message: str | bytes) -> None:
        frame = self._state.take(message)
        if frame["type"] == "shutdown":
            self._told_at, self._delay = time.monotonic(), frame["retryAfterMs"] / 1000
        elif frame["type"] in {"snapshot", "update"} and not self._synchronized.is_set():
            self._note_return(frame.get("reason", "resume"))

    def _note_return(self, reason: str) -> None:
        if self._delay is not None:
            self._figures.beyond_told.append(time.monotonic() - self._told_at - self._delay)
            self._figures.not_resumed += reason != "resume"
            self._delay = None
        self._synchronized.set()


async def _ask(client: httpx.AsyncClient, figures: RolloutFigures) -> None:
    """Sends requests, each as another browser, until cancelled."""
    while True:
        began = time.monotonic()
        try:
            answer = await client.get(QUOTES)
        except httpx.TransportError as error:
            figures.lost.append(repr(error))
        else:
            figures.latencies.append(time.monotonic() - began)
            if answer.status_code != httpx.codes.OK:
                figures.lost.append(f"{answer.status_code} {answer.text}")


@contextlib.asynccontextmanager
async def _load(
    port: int, *, feeds: int, browsers: int
) -> AsyncIterator[tuple[RolloutFigures, Sequence[RolloutClient]]]:
    figures = RolloutFigures(feeds=feeds)
    clients = [RolloutClient(f"ws://127.0.0.1:{port}{FEED}", figures) for _ in range(feeds)]
    async with (
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=scaled(10)) as http,
        asyncio.TaskGroup() as group,
    ):
        # Stopping cancels browsers between two requests, so that no request counts as lost.
        loops = [*(each.run() for each in clients), *(_ask(http, figures) for _ in range(browsers))]
        tasks = [group.create_task(each) for each in loops]
        began = time.monotonic()
        yield figures, clients
        figures.seconds = time.monotonic() - began
        for task in tasks:
            task.cancel()


async def _all_synchronized(clients: Sequence[RolloutClient]) -> None:
    async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
        await asyncio.gather(*(each.await_synchronized() for each in clients))


async def _replace(balancer: Balancer, workers: Generations, clients: Sequence[RolloutClient]) -> None:
    """Starts the new workers; then stops the old ones, one after the other."""
    for worker in workers.new:
        await asyncio.to_thread(worker.start, "api")
    await asyncio.to_thread(balancer.await_in_service, workers.new)
    for worker in workers.old:
        process = worker.processes[-1]
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, scaled(15)) == 0, "a worker did not exit cleanly"
        await _all_synchronized(clients)


async def _measure(balancer: Balancer, workers: Generations, feeds: int, browsers: int) -> RolloutFigures:
    await asyncio.to_thread(balancer.await_in_service, workers.old)
    async with _load(balancer.port, feeds=feeds, browsers=browsers) as (figures, clients):
        await _all_synchronized(clients)
        await _replace(balancer, workers, clients)
    return figures


def restart(
    valkey: Valkey, *, workers: int = 2, feeds: int = 100, browsers: int = 4, policy: Path = POLICY
) -> RolloutFigures:
    """Replaces all workers under load and returns the figures."""
    settings = {"QUOTECAST_LIMITS": "off", "QUOTECAST_LOG_LEVEL": "error"}
    with contextlib.ExitStack() as stack:
        stack.enter_context(Service(valkey, settings)).start("ingest")
        both = [stack.enter_context(Service(valkey, settings, split=True)) for _ in range(2 * workers)]
        generations = Generations(old=both[:workers], new=both[workers:])
        for worker in generations.old:
            worker.start("api")
        balancer = stack.enter_context(running_balancer(both, policy))
        return asyncio.run(_measure(balancer, generations, feeds, browsers))


if __name__ == "__main__":
    with running_valkey() as server:
        for line in restart(server).lines():
            sys.stdout.write(f"{line}\n")
