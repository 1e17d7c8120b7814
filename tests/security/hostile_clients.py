"""Hostile clients of a worker, in a process of their own, so that they do not slow down the measuring one."""

import contextlib
import itertools
import multiprocessing
import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Final

HANDSHAKE: Final = (
    b"GET /api/ws/market?symbols=AAPL HTTP/1.1\r\nHost: quotecast\r\nConnection: Upgrade\r\n"
    b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
#: Connections of an attack, opened one after the other: the attack is not a flood of handshakes.
MAX_CONNECTIONS: Final = 100
_TEXT, _BINARY, _PING = 1, 2, 9
_FINAL: Final = 0x80


def frame(opcode: int, payload: bytes, *, final: bool = True) -> bytes:
    """Returns a client's frame, with a mask that leaves the payload readable."""
    size = len(payload)
    length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
    return bytes([(_FINAL if final else 0) | opcode]) + length + bytes(4) + payload


_ENDLESS: Final = bytes([_FINAL | _BINARY, 0x80 | 127]) + struct.pack("!Q", 1 << 40) + bytes(4)
#: First bytes of each attack, and the bytes that it repeats.
ATTACKS: Final[dict[str, tuple[bytes, bytes]]] = {
    "pings": (HANDSHAKE, frame(_PING, b"x" * 125) * 500),
    "empty pings": (HANDSHAKE, frame(_PING, b"") * 10_000),
    "fragments": (HANDSHAKE + frame(_TEXT, b"", final=False), frame(0, b"", final=False) * 10_000),
    "one long message": (HANDSHAKE + _ENDLESS, b"x" * 65_536),
    "commands": (HANDSHAKE, frame(_TEXT, b'{"action":"subscribe","symbols":"all"}') * 1000),
    "silence": (HANDSHAKE, b""),
    "half a handshake": (HANDSHAKE[:60], b""),
    "slow headers": (b"GET /api/health HTTP/1.1\r\nHost: quotecast\r\n", b"X: y\r\n"),
}
#: Seconds between two sends of slow attacks.
PAUSES: Final = {"slow headers": 0.2}


class HostileClient:
    """A client that never reads, and reconnects when its connection ends."""

    def __init__(self, name: str, port: int) -> None:
        self._first, self._more = ATTACKS[name]
        self._pause = PAUSES.get(name, 0.0)
        self._port = port
        self.open()

    def open(self) -> None:
        """Opens another connection."""
        self.socket = socket.create_connection(("127.0.0.1", self._port))
        self.socket.setblocking(False)
        self._waiting = memoryview(self._first)
        self._next = 0.0

    def go_on(self) -> None:
        """Sends as much as the socket takes. Raises OSError when the connection has ended."""
        now = time.monotonic()
        if now < self._next:
            return
        if not self._waiting:
            self._waiting = memoryview(self._more)
            self._next = now + self._pause
        with contextlib.suppress(BlockingIOError):
            self._waiting = self._waiting[self.socket.send(self._waiting) :]


def attack(name: str, port: int, count: int, seconds: float) -> None:
    """Runs the clients for `seconds`."""
    deadline = time.monotonic() + seconds
    clients = [HostileClient(name, port) for _ in range(count)]
    connections = itertools.count(count)
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.socket, selectors.EVENT_WRITE, client)
        while time.monotonic() < deadline:
            if not ATTACKS[name][1] or PAUSES.get(name):
                time.sleep(0.01)  # slow attacks pause; the others wait for room in the socket
            for key, _ in selector.select(0.05):
                try:
                    key.data.go_on()
                except OSError:
                    selector.unregister(key.data.socket)
                    key.data.socket.close()
                    if next(connections) < MAX_CONNECTIONS:
                        key.data.open()
                        selector.register(key.data.socket, selectors.EVENT_WRITE, key.data)


@contextlib.contextmanager
def attacking(name: str, port: int, count: int, seconds: float) -> Iterator[Callable[[], bool]]:
    """Runs an attack during the body; yields a function that says whether it still runs."""
    process = multiprocessing.get_context("spawn").Process(target=attack, args=(name, port, count, seconds))
    process.start()
    try:
        yield process.is_alive
        process.join()
        assert process.exitcode == 0, "the attack failed"
    finally:
        process.kill()
