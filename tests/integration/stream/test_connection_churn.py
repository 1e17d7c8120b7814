"""A worker after a thousand connections that ended in every way."""

import random
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from support.clients.scraping import scrape, wait_for_scrape
from support.runs.deadlines import scaled
from support.servers.open_sockets import sockets_of, unix_sockets
from support.servers.processes import running_valkey
from support.servers.service import Service

CONNECTIONS: Final = 1000
AT_ONCE: Final = 20
#: Bytes that an allocator may hold; a leak of 16 KB per connection exceeds them.
KEPT_BYTES: Final = 16_000_000
#: Connections to Redis that calls at once open and keep; a leak in one of the lives exceeds them.
KEPT_CONNECTIONS: Final = 40
PATIENCE_SECONDS: Final = 30.0

HANDSHAKE: Final = (
    b"GET /api/ws/market?symbols=all&interval=100 HTTP/1.1\r\nHost: quotecast\r\nConnection: Upgrade\r\n"
    b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
#: Masked with zeros: a whole ping command, the half of one that says it has 100 bytes, and a close.
COMMAND: Final = b"\x81\x91\0\0\0\0" + b'{"action":"ping"}'
HALF_A_FRAME: Final = b"\x81\xe4\0\0\0\0" + b'{"action":'
CLOSE: Final = b"\x88\x82\0\0\0\0\x03\xe8"


def read_some(client: socket.socket) -> None:
    client.recv(4096)


def reset(client: socket.socket) -> None:
    """Makes the next close an RST, which drops bytes in flight."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def says(*parts: bytes) -> Callable[[socket.socket], None]:
    def talk(client: socket.socket) -> None:
        for part in parts:
            client.sendall(part)

    return talk


#: The ways in which a connection ends.
LIVES: Final[Mapping[str, tuple[Callable[[socket.socket], None], ...]]] = {
    "nothing": (),
    "nothing, reset": (reset,),
    "half a handshake": (says(HANDSHAKE[:70]),),
    "half a handshake, reset": (says(HANDSHAKE[:70]), reset),
    "no handshake": (says(b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n"), reset),
    "a handshake": (says(HANDSHAKE),),
    "a handshake, reset": (says(HANDSHAKE), reset),
    "a snapshot": (says(HANDSHAKE), read_some, read_some),
    "a snapshot, reset": (says(HANDSHAKE), read_some, read_some, reset),
    "a command": (says(HANDSHAKE), read_some, says(COMMAND), read_some, reset),
    "half a frame": (says(HANDSHAKE), read_some, says(HALF_A_FRAME)),
    "half a frame, reset": (says(HANDSHAKE), read_some, says(COMMAND, HALF_A_FRAME), reset),
    "a farewell": (says(HANDSHAKE), read_some, says(CLOSE), read_some),
}


class Resources(NamedTuple):
    """The resources of a worker without clients."""

    #: Inodes of sockets, without those to Redis, which has a Unix socket.
    sockets: set[int]
    connections_to_redis: int
    memory: int


class Worker:
    """One API worker, and the address of its metrics."""

    def __init__(self, service: Service, errors: Path) -> None:
        self.errors = errors
        self._service = service
        service.start("ingest")
        with errors.open("wb") as file:
            self._process = service.launch("api", stderr=file)
        line = service._links[-1].recv(1000).decode()
        found = re.search(r"; metrics on (\S+)\n", line)
        assert found, line
        self._metrics = found[1]

    def churn(self, connections: int, seed: int) -> None:
        """Opens the connections, several at a time, and ends each in one of the ways."""
        draw = random.Random(seed)
        lives = draw.choices(list(LIVES.values()), k=connections)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(partial(live, self._service.port), lives))

    def resources(self) -> Resources:
        """Returns the worker's resources once it has noticed that all clients have left."""
        # The worker accepts connections in their order: it has noticed those before this one.
        with self._service.feed("/api/ws/market?symbols=all") as last:
            last.next_of("snapshot")
        found = wait_for_scrape(self._metrics, lambda one: one.value("quotecast_connections") == 0)
        sockets = sockets_of(self._process.pid)
        to_redis = sockets & unix_sockets()
        memory = int(found.value("process_resident_memory_bytes"))
        return Resources(sockets - to_redis, len(to_redis), memory)

    def frames_sent(self) -> float:
        """Returns the number of frames sent."""
        return scrape(self._metrics).value("quotecast_feed_frames_total")


def live(port: int, life: tuple[Callable[[socket.socket], None], ...]) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=scaled(PATIENCE_SECONDS)) as client:
        for step in life:
            step(client)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    settings = {"QUOTECAST_METRICS_PORT": "-1", "QUOTECAST_LOG_LEVEL": "error"}
    with running_valkey() as valkey, Service(valkey, settings) as service:
        yield Worker(service, tmp_path / "errors")


@pytest.mark.slow
def test_nothing_stays_of_those_who_left(worker: Worker) -> None:
    """Sockets, hub places and memory return to their start; connections to Redis stay few; no error."""
    worker.churn(CONNECTIONS // 2, seed=1)  # allocates what is allocated once
    before, frames = worker.resources(), worker.frames_sent()
    worker.churn(CONNECTIONS, seed=2)
    assert worker.frames_sent() > frames + CONNECTIONS
    deadline = time.monotonic() + scaled(PATIENCE_SECONDS)
    while (after := worker.resources()).sockets - before.sockets:
        assert time.monotonic() < deadline, "connections stay open"
    assert after.connections_to_redis <= before.connections_to_redis + KEPT_CONNECTIONS
    assert after.memory - before.memory < KEPT_BYTES
    assert worker.errors.read_text() == ""
