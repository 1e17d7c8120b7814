"""HTTP reads from the edge to the body, without a socket: repeated ones, and those that are routed."""

import asyncio
from typing import Any

import pytest
import uvloop

from quotecast.api.limits.repeats import Repeats
from quotecast.api.limits.throttle import Throttle
from quotecast.api.middleware.middleware import Middleware
from quotecast.api.worker.app import build_app
from quotecast.asgi import App, Message
from quotecast.limits.decision import Decision
from support.made.factories import full_mirrors, services

READS = {
    "three quotes": ("/api/market/quotes", b"symbols=AAPL,MSFT,NVDA"),
    "one": ("/api/market/quotes/AAPL", b""),
}
#: Admits every request, and remembers none.
ADMITTED = Decision(admitted=True, limit=1000, remaining=999, reset=60)


def everybody(_: object) -> str:
    return "everybody"


async def check(_key: str, _limit: int) -> Decision:
    return ADMITTED


async def give_back(_key: str) -> None:
    """Frees nothing: no slot was taken."""


def application(*, repeating: bool) -> App:
    made = services(full_mirrors())
    limits = dict.fromkeys(
        ("auth", "market", "crypto", "doviz", "financials", "portfolio", "watchlist"), 1000
    )
    throttle = Throttle(
        check, give_back, limits=limits, find=made.names.find, identify=everybody, by_address=everybody
    )
    routed = build_app(made, middleware=[throttle.middleware])
    repeats = Repeats(routed, throttle=throttle)
    return Middleware(
        repeats if repeating else routed, cors_origins=["*"], account_origins=[], websocket_origins=["*"]
    )


def scope_of(path: str, query: bytes) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": [(b"host", b"quotecast"), (b"accept-encoding", b"gzip, br")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }


@pytest.mark.parametrize("repeating", [True, False], ids=["repeated", "routed"])
@pytest.mark.parametrize("read", READS)
def test_a_read_without_its_socket(benchmark: Any, read: str, repeating: bool) -> None:  # noqa: FBT001 - a case
    """A hundred requests, one after the other; the first of all makes the way known."""
    app = application(repeating=repeating)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def hundred() -> None:
        sent.clear()
        for _ in range(100):
            await app(scope_of(*READS[read]), receive, send)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        benchmark(lambda: runner.run(hundred()))
    assert [message["status"] for message in sent[::2]] == [200] * 100
