"""A TCP proxy between the service and a server, which fails as a test asks."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Final, Self

BLOCK: Final = 65_536
#: Makes `close` send a TCP reset.
RESET: Final = struct.pack("ii", 1, 0)


class Link:
    """A connection through the proxy."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        #: What the client has sent, so that a test can tell connections apart.
        self.sent = bytearray()
        #: Drops what the server sends, though the connection looks healthy.
        self.swallows = False
        #: How many more bytes of the server reach the client before the proxy cuts the link; None for all.
        self.bytes_left: int | None = None

    def reset(self) -> None:
        """Ends the connection with a reset, as a crashed peer does."""
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                end.shutdown(socket.SHUT_RD)
            end.close()


class FaultProxy:
    """A proxy that listens inside `with`, and connects each client by `connect`.

    Tests may change attributes while it runs: those of `links` for one connection, these for all.
    """

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self.links: list[Link] = []
        #: Delay of each block from the server, in seconds.
        self.delay = 0.0
        #: Delay of the first block of each new link, in seconds.
        self.greeting_delay = 0.0
        #: The byte limit of new links.
        self.truncate_after: int | None = None
        #: Resets new connections.
        self.refuses = False
        #: While it is clear, the proxy holds what either side sends, as a network does that lost its route.
        self.passes = threading.Event()
        self.passes.set()
        self._connect = connect
        #: A link that is being made is reset too, or refused.
        self._connecting = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        _start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Only `shutdown` wakes the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.passes.set()
        self.reset()

    def reset(self) -> None:
        """Resets every link; clients may connect again."""
        with self._connecting:
            for link in self.links:
                link.reset()

    def swallow(self, text: bytes) -> int:
        """Drops what the server sends on links whose client has sent those bytes; returns their number."""
        matching = [link for link in self.links if text in link.sent]
        for link in matching:
            link.swallows = True
        return len(matching)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with self._connecting:
                    try:
                        link = Link(client, self._reach())
                    except OSError:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                        client.close()
                        continue
                    link.bytes_left = self.truncate_after
                    self.links.append(link)
                _start(partial(self._ask, link))
                _start(partial(self._answer, link))

    def _reach(self) -> socket.socket:
        if self.refuses:
            raise ConnectionRefusedError
        return self._connect()

    def _ask(self, link: Link) -> None:
        with contextlib.suppress(OSError):
            while block := link.client.recv(BLOCK):
                link.sent += block
                self.passes.wait()
                link.server.sendall(block)
        link.reset()

    def _answer(self, link: Link) -> None:
        delay = self.greeting_delay
        with contextlib.suppress(OSError):
            while block := link.server.recv(BLOCK):
                if delay := max(delay, self.delay):
                    time.sleep(delay)
                delay = 0.0
                if link.bytes_left is not None:
                    block, link.bytes_left = block[: link.bytes_left], link.bytes_left - len(block)
                self.passes.wait()
                if not link.swallows:
                    link.client.sendall(block)
                if link.bytes_left is not None and link.bytes_left <= 0:
                    break
        link.reset()


def _start(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()
