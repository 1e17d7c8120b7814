"""What the blocking face does where the asyncio one does it in another way."""

from __future__ import annotations

import threading
import time

import httpx
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from quotecast_client.settings import SOCKET_SECONDS, USER_AGENT

Http = httpx.Client

__all__ = ["ClientConnection", "Ending", "Http", "open_socket", "receive", "sleep"]


class Ending:
    """Whether something has ended, and a wait that its end cuts short, also from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def is_set(self) -> bool:
        """Whether it has ended."""
        return self._event.is_set()

    def set(self) -> None:
        """Ends it."""
        self._event.set()

    def wait(self, seconds: float) -> None:
        """Returns at the end, or after some seconds."""
        self._event.wait(seconds)


def open_socket(url: str, subprotocol: str) -> ClientConnection:
    """Returns a connection as a context."""
    return connect(
        url,
        subprotocols=[Subprotocol(subprotocol)],
        user_agent_header=USER_AGENT,
        open_timeout=SOCKET_SECONDS,
        close_timeout=1,
        max_size=None,
    )


def receive(socket: ClientConnection, seconds: float) -> str | bytes:
    """Returns the next message. Raises TimeoutError."""
    return socket.recv(seconds)


def sleep(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)
