"""Edges in a row behind a service, each on a line that a test may disturb, with clients at every tier."""

import asyncio
import contextlib
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from support.servers.fault_proxy import FaultProxy
from support.servers.service import Service
from support.stages.standard_load import FEEDS, Listener, StandardLoad

#: What edges and their origins know.
SECRET: Final = "known-to-every-test-and-32-bytes-long"
#: Clients of each tier, readers of each, and those that change between the tiers.
CLIENTS: Final = 24
READERS: Final = 1
WANDERERS: Final = 12
#: Seconds that a wanderer stays at a tier: each of them another time.
LEAST_STAY_SECONDS: Final = 2.0


@dataclass
class _NoRedis:
    url: str = ""


class EdgeProcess:
    """A worker that follows the service at a local port, over a line that a test may disturb."""

    def __init__(self, line: FaultProxy, settings: Mapping[str, str] = {}) -> None:
        self.line = line
        self.service = Service(
            _NoRedis(),
            {
                **settings,
                "QUOTECAST_DATABASE_URL": "",
                "QUOTECAST_JWT_SECRET": "",
                "QUOTECAST_ORIGIN": f"ws://127.0.0.1:{line.port}",
                "QUOTECAST_ORIGIN_SECRET": SECRET,
                "QUOTECAST_RELAY_SECRET": SECRET,
            },
        )
        self.port = self.service.port

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The newest process."""
        return self.service.processes[-1]

    def start(self) -> None:
        self.service.start("edge")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@dataclass
class Tiers:
    """The edges, the nearest to the origin first."""

    edges: list[EdgeProcess]

    def load(self, origin: int) -> "TieredLoad":
        """Returns clients of the origin's port and of every edge."""
        return TieredLoad(origin, [edge.port for edge in self.edges])


class Wanderer(Listener):
    """A client that leaves without a word, and resumes with its cursor at the next of some addresses."""

    def __init__(self, urls: Sequence[str], feed: str, stay: float, *, among_feeds: bool) -> None:
        super().__init__(urls[0], feed, among_feeds=among_feeds)
        # A tier may be behind the one before; it then says so with a resync.
        self.goes_back = True
        self._urls = urls
        self._stay = stay
        self.moves = 0

    async def run(self) -> None:
        """Listens for ever, here and there."""
        async with asyncio.TaskGroup() as group:
            group.create_task(super().run())
            group.create_task(self._wander())

    async def _wander(self) -> None:
        while True:
            await asyncio.sleep(self._stay)
            self.moves += 1
            self.url = self._urls[self.moves % len(self._urls)]
            await self.disconnect()


class TieredLoad(StandardLoad):
    """The standard load at each tier, with clients that change between tiers; `url` is the origin's."""

    def __init__(self, origin: int, edges: Sequence[int], clients: int = CLIENTS) -> None:
        super().__init__(origin, clients=clients, readers=READERS)
        ports = [origin, *edges]
        for port in edges:
            self.listeners += StandardLoad(port, clients=clients).listeners
            self.read_urls.append(f"http://127.0.0.1:{port}")
        urls = [f"ws://127.0.0.1:{port}" for port in ports]
        self.wanderers = [
            Wanderer(
                [*urls[number % len(urls) :], *urls[: number % len(urls)]],
                FEEDS[number % len(FEEDS)],
                LEAST_STAY_SECONDS + number * 0.61,
                among_feeds=number % 2 == 1,
            )
            for number in range(WANDERERS)
        ]
        self.listeners += self.wanderers


@contextlib.contextmanager
def running_tiers(origin: int, settings: Mapping[str, str] = {}, count: int = 2) -> Iterator[Tiers]:
    """Runs edges: the first follows the service at the port `origin`, each other one the edge before it."""
    edges: list[EdgeProcess] = []
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            ahead = edges[-1].port if edges else origin
            line = stack.enter_context(FaultProxy(lambda port=ahead: _connect(port)))  # type: ignore[misc]
            edge = EdgeProcess(line, settings)
            stack.enter_context(edge.service)
            edge.start()
            edges.append(edge)
        yield Tiers(edges)


def _connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=None)
