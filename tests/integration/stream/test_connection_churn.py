"""A worker after a thousand connections that came and went as they liked."""

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
import redis

from support.scraping import scrape, wait_for_scrape
from support.servers import Valkey, running_valkey
from support.service import Service

CONNECTIONS: Final = 1000
AT_ONCE: Final = 20
#: What an allocator may keep; 16 KB left by each connection are found.
KEPT_BYTES: Final = 16_000_000
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
    """The next close is an RST, which loses what is under way."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def says(*parts: bytes) -> Callable[[socket.socket], None]:
    def talk(client: socket.socket) -> None:
        for part in parts:
            client.sendall(part)

    return talk


#: What a connection does before it ends.
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


class Kept(NamedTuple):
    """What a worker holds when nobody is there."""

    sockets: int
    clients_of_redis: int
    memory: int


class Worker:
    """One API worker, scraped where it said."""

    def __init__(self, service: Service, valkey: Valkey, errors: Path) -> None:
        self.errors = errors
        self._port = service.port
        service.start("ingest")
        with errors.open("wb") as file:
            self._process = service.launch("api", stderr=file)
        told = service._links[-1].recv(1000).decode()
        found = re.search(r"; metrics on (\S+)\n", told)
        assert found, told
        self._metrics = found[1]
        self._valkey = valkey

    def churn(self, connections: int, seed: int) -> None:
        """Each lives one of the lives, with others beside it."""
        draw = random.Random(seed)
        lives = draw.choices(list(LIVES.values()), k=connections)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(partial(live, self._port), lives))

    def kept(self) -> Kept:
        """Once it has noticed that everybody left."""
        wait_for_scrape(self._metrics, lambda one: one.value("quotecast_feed_sockets") == 0)
        with redis.Redis.from_url(self._valkey.url) as client:
            clients = len(client.client_list())
        found = scrape(self._metrics)
        memory = int(found.value("process_resident_memory_bytes"))
        return Kept(self._sockets(), clients, memory)

    def _sockets(self) -> int:
        links = Path(f"/proc/{self._process.pid}/fd").iterdir()
        return sum(is_socket(link) for link in links)

    def served(self) -> float:
        """Frames sent so far."""
        return scrape(self._metrics).value("quotecast_feed_frames_total")


def is_socket(link: Path) -> bool:
    try:
        return link.readlink().name.startswith("socket:")
    except FileNotFoundError:
        # Closed since it was listed.
        return False


def live(port: int, life: tuple[Callable[[socket.socket], None], ...]) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as client:
        for step in life:
            step(client)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    settings = {"QUOTECAST_METRICS_PORT": "-1", "QUOTECAST_LOG_LEVEL": "error"}
    with running_valkey() as valkey, Service(valkey, settings) as service:
        yield Worker(service, valkey, tmp_path / "errors")


def test_nothing_stays_of_those_who_left(worker: Worker) -> None:
    """Sockets, places in the hub, connections to Redis and memory are as they were; nobody made a fault."""
    worker.churn(CONNECTIONS // 2, seed=1)  # what is made once, is made
    before, frames = worker.kept(), worker.served()
    worker.churn(CONNECTIONS, seed=2)
    assert worker.served() > frames + CONNECTIONS
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (after := worker.kept()).sockets > before.sockets:
        assert time.monotonic() < deadline, "sockets stay open"
    assert after.clients_of_redis <= before.clients_of_redis
    assert after.memory - before.memory < KEPT_BYTES
    assert worker.errors.read_text() == ""
