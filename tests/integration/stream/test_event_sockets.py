"""The connections of event streams, over real sockets, with fake applications."""

import asyncio
import socket
from typing import Any

import pytest
import structlog
import uvloop

from quotecast.stream.occupancy import Occupancy
from quotecast.stream.outlet import WRITER
from quotecast.stream.server import serve_feeds
from support.runs.deadlines import scaled
from support.stages.feed_sockets import raw

REQUEST = b"GET /api/sse/market?symbols=all HTTP/1.1\r\nHost: test\r\n\r\n"


class Waiting:
    """An application that answers when its client has left, as one that waits for a mirror may."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.answered = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.set()
        await receive()
        assert scope["extensions"][WRITER].take_place()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"late", "more_body": False})
        self.answered.set()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_client_that_leaves_before_its_answer_takes_no_place(run: Any) -> None:
    """Nobody would free the place, and the worker would be full in the end."""

    async def scenario() -> None:
        app, occupancy = Waiting(), Occupancy()
        with structlog.testing.capture_logs() as logs:
            async with serve_feeds(app, "127.0.0.1", 0, occupancy) as port:
                async with raw(port) as (_, writer):
                    writer.write(REQUEST)
                    await asyncio.wait_for(app.asked.wait(), scaled(30))
                    linger = socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0"
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, *linger)
                await asyncio.wait_for(app.answered.wait(), scaled(30))
        assert (occupancy.feeds, occupancy.silent, logs) == (0, 0, [])

    run(scenario())
