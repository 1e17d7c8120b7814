"""Clients on uvloop of a server that resets connections at once, as a proxy without its backend does."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvloop

from quotecast.alerts.outbound import make_outbound
from quotecast.errors import UpstreamError
from quotecast.providers.transport.fetch import get_bytes, open_client
from quotecast_client import AsyncClient, ConnectionFailed
from support.servers.fault_proxy import RESET

#: One in five or so of these connections is reset before the client has asked for its properties.
CONNECTIONS = 200


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Yields the address of a server that resets every connection."""

    def reset_all() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                client.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=reset_all, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def each_time(ask: Callable[[], Awaitable[Any]]) -> set[Any]:
    """Returns the different results of many calls on uvloop."""

    async def ask_often() -> set[Any]:
        return {await ask() for _ in range(CONNECTIONS)}

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(ask_often())


def test_upstream_that_resets_connections_fails_as_any_other(url: str) -> None:
    async def ask() -> None:
        async with open_client(url) as client:
            with pytest.raises(UpstreamError, match=r"/rows: (Connect|Read)Error"):
                await get_bytes(client, "/rows")

    assert each_time(ask) == {None}


def test_receiver_that_resets_connections_gets_no_event(url: str) -> None:
    outbound = make_outbound((), production=False)

    async def ask() -> str:
        return (await outbound.post(f"{url}/hook", {}, b"{}")).problem

    assert each_time(ask) <= {"no connection", "broken answer: ReadError", "broken answer: WriteError"}


def test_service_that_resets_connections_fails_as_any_other(url: str) -> None:
    async def ask() -> None:
        async with AsyncClient(url, retries=0) as client:
            with pytest.raises(ConnectionFailed):
                await client.status()

    assert each_time(ask) == {None}
