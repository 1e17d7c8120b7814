"""A service of one feed whose frames a test writes: each connection gets the next script, then silence."""

import asyncio
import json
import re
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from support.made.audit_frames import START, iso

Frame = dict[str, Any]


class MisbehavingFeed:
    """Serves `/api/ws/market` and `/api/market/quotes` inside `async with`.

    A script that ends with None closes the connection after it. `offset` is that of its clock in seconds.
    """

    def __init__(
        self, *scripts: Sequence[Frame | None], rest: Mapping[str, Frame] | None = None, offset: float = 0.0
    ) -> None:
        self._scripts = [*scripts]
        self._rest = rest
        self._offset = offset
        self._server: Server | None = None
        #: The queries of its connections.
        self.connections: list[str] = []
        #: The addresses of its requests to REST.
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        assert self._server
        port = self._server.sockets[0].getsockname()[1]
        return f"ws://127.0.0.1:{port}/api/ws/market?symbols=all"

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._talk,
            "127.0.0.1",
            0,
            process_request=self._process,
            subprotocols=[Subprotocol("quotecast.v1.rows")],
            close_timeout=1,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server
        self._server.close()
        await self._server.wait_closed()

    def _process(self, _connection: ServerConnection, request: Request) -> Response | None:
        if request.path.startswith("/api/ws"):
            return None
        self.requests.append(request.path)
        body = json.dumps(self._rest or {}).encode()
        status = 200 if self._rest is not None else 404
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        return Response(status, "", Headers({**headers, "Connection": "close"}), body)

    async def _talk(self, connection: ServerConnection) -> None:
        assert connection.request
        self.connections.append(re.sub(r"^[^?]*\?", "", connection.request.path))
        script = self._scripts.pop(0) if self._scripts else []
        answering = asyncio.create_task(self._answer_pings(connection))
        try:
            for frame in script:
                if frame is None:
                    await connection.close(1012)
                    return
                await connection.send(json.dumps(frame))
            await connection.wait_closed()
        except ConnectionClosed:
            pass
        finally:
            answering.cancel()

    async def _answer_pings(self, connection: ServerConnection) -> None:
        try:
            async for message in connection:
                command = json.loads(message)
                now = iso(time.time() - START + self._offset)
                await connection.send(json.dumps({"type": "pong", "timestamp": now, "id": command["id"]}))
        except ConnectionClosed:
            pass
