"""The origin's side of relays in a test's own process: a bus, and a feed server that serves relays of it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from quotecast.bus.base import StateSource
from quotecast.bus.remote import RemoteBus
from quotecast.market.feeds import Feed
from quotecast.stream.relays import Relays
from quotecast.stream.server import serve_feeds

SECRET: Final = "a-secret-of-relays-with-32-bytes"


@dataclass
class Origin:
    """A worker without clients, whose `relays` get every message of its bus but for the next `loses`."""

    relays: Relays
    port: int
    loses: int = 0

    def reader(self, secret: str = SECRET) -> RemoteBus:
        """Returns a reader of this origin's bus."""
        return RemoteBus(f"ws://127.0.0.1:{self.port}", secret)


@contextlib.asynccontextmanager
async def serving_relays(
    bus: StateSource, feeds: Sequence[Feed] = tuple(Feed), secret: str = SECRET
) -> AsyncIterator[Origin]:
    """Serves relays of a bus on a free port."""
    relays = Relays(bus, secret)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await relays.serve(scope, receive, send)

    async with bus.listen(feeds) as messages, serve_feeds(app, "127.0.0.1", 0) as port:
        origin = Origin(relays, port)

        async def tap() -> None:
            async for message in messages:
                if message is not None and origin.loses:
                    origin.loses -= 1
                elif message is not None:
                    relays.publish(message)

        tapping = asyncio.create_task(tap())
        try:
            yield origin
        finally:
            tapping.cancel()
            await asyncio.gather(tapping, return_exceptions=True)
