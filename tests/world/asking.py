"""A request of HTTP in a world: it travels to a worker, runs in the worker's process, and travels back."""

import asyncio
from typing import Any, NamedTuple

from world.loop import Host
from world.network import Network


class Answered(NamedTuple):
    """An answer of the application."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


async def ask(http: Any, host: Host, path: str, query: bytes, headers: list[tuple[bytes, bytes]]) -> Answered:
    """Runs a worker's application on a GET; call it in the worker's process."""
    status, given, body = 0, {}, b""

    async def send(message: Any) -> None:
        nonlocal status, given, body
        if message["type"] == "http.response.start":
            status, given = message["status"], dict(message["headers"])
        else:
            body += message.get("body", b"")

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": query,
        "headers": [(b"host", b"world"), *headers],
        "client": (host.address, 1),
        "server": ("world", 8000),
    }
    await http(scope, receive, send)
    return Answered(status, given, body)


async def travel(network: Network, source: str, target: str) -> None:
    """Waits for as long as a packet takes; a cut line holds it up, as TCP tries again."""
    while network.is_cut(source, target):  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.2)
    await asyncio.sleep(network.latency(source, target))
