"""The clients of a worker's feeds: counted, bounded per address, and sent away when the worker stops."""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import structlog

from quotecast.access.errors import InvalidKey, SessionEnded
from quotecast.access.grant import Grant
from quotecast.access.keys import is_session
from quotecast.close_codes import CloseCode
from quotecast.feed import frames
from quotecast.framing import Frame
from quotecast.stream.client import CLOSE_SECONDS, Client, ConnectionEnded

#: A worker that stops has closed its port within this time.
RETRY_FLOOR_MS: Final = 100
#: The longest delay, for any number of clients.
RETRY_CEILING_MS: Final = 5000
#: The delays of event streams: `EventSource` waits the last one before every try of an outage.
EVENTS_RETRY_MS: Final = 1000, 3000
#: Handshakes that one worker accepts beside its own clients; docs/capacity.md has the measured rate.
HANDSHAKES_PER_SECOND: Final = 1000
#: Seconds that all clients have to read the farewell.
FAREWELL_SECONDS: Final = 1.0

_CHANGED: Final = "The rights of this API key changed; connect again"

#: Counts are by a feed's name, `all` or `replay`, and by transport.
Kind = tuple[str, str]

log = structlog.get_logger()


class Clients:
    """All clients; `per_address` of 0 means no limit."""

    def __init__(self, per_address: int, address_of: Callable[[Any], str]) -> None:
        self.address_of = address_of
        self._per_address = per_address
        self._by_address: Counter[str] = Counter()
        #: In the order in which they came.
        self._clients: dict[Client, None] = {}
        #: Returns the present rights of the key of a grant; None for a key that ended.
        self.present_grant: Callable[[Grant], Grant | None] = lambda grant: grant
        self._by_key: defaultdict[str, dict[Client, None]] = defaultdict(dict)
        #: Open connections.
        self.sockets: Counter[Kind] = Counter()
        #: Accepted connections.
        self.connects: Counter[Kind] = Counter()
        #: Connections that this worker closed, by close code.
        self.closes: Counter[tuple[Kind, CloseCode]] = Counter()
        #: Refused event streams, by reason.
        self.refused: Counter[str] = Counter()
        #: Frames sent in answers, and their length in bytes, by name.
        self.answers: Counter[str] = Counter()
        self.answered_length: Counter[str] = Counter()
        #: How many clients a stopping worker had; None until it stops.
        self._leaving: int | None = None

    def take_place(self, address: str) -> bool:
        """Counts one more connection of an address; returns False, and counts nothing, if it has its most."""
        if self._per_address and self._by_address[address] >= self._per_address:
            return False
        self._by_address[address] += 1
        return True

    def leave_place(self, address: str) -> None:
        """Frees the place of a connection."""
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    async def run(
        self, client: Client, greet: Callable[[], Awaitable[None]], follow: Callable[[], Awaitable[None]]
    ) -> None:
        """Greets a client and follows it to its end; sends it back if the worker stops."""
        self.connects[client.kind] += 1
        if self._leaving is not None:
            await client.send_farewell(self.retry_range(client))
            await self._close(client, CloseCode.SERVICE_RESTART)
            return
        self._clients[client] = None
        if client.key_id is not None:
            self._by_key[client.key_id][client] = None
        self.sockets[client.kind] += 1
        try:
            self._check_rights(client)
            await greet()
            del greet  # it holds what the address asked for
            client.join()
            await follow()
        except ConnectionEnded as end:
            await self._close(client, end.code)
        except asyncio.CancelledError:
            if client.code is None:
                raise
            client.task.uncancel()
            await self._close(client, client.code)
        finally:
            client.leave()
            del self._clients[client]
            if client.key_id is not None:
                self._by_key[client.key_id].pop(client, None)
                if not self._by_key[client.key_id]:
                    del self._by_key[client.key_id]
            self.sockets[client.kind] -= 1

    def __iter__(self) -> Iterator[Client]:
        """Yields all clients."""
        return iter(self._clients)

    def of_keys(self) -> dict[str, int]:
        """Returns the number of clients of each API key; sessions of users are none."""
        return {key: len(those) for key, those in self._by_key.items() if not is_session(key)}

    def end_key(self, key_id: str) -> None:
        """Disconnects the clients of an API key that ended, or whose rights changed."""
        for client in [*self._by_key.get(key_id, ())]:
            self._check_rights(client)

    def _check_rights(self, client: Client) -> None:
        """Disconnects a client whose rights are no longer those with which it came."""
        if client.grant is None or client.grant.key is None:
            return
        present = self.present_grant(client.grant)
        if present is None and client.grant.key.is_session:
            client.expel(CloseCode.RIGHTS_CHANGED, frames.error(403, str(SessionEnded())))
        elif present is None:
            client.expel(CloseCode.KEY_ENDED, frames.error(401, str(InvalidKey())))
        elif not present.equals(client.grant):
            client.expel(CloseCode.RIGHTS_CHANGED, frames.error(403, _CHANGED))

    def retry_range(self, client: Client) -> tuple[int, int]:
        """Returns the bounds of a client's delay if all clients reconnected, in milliseconds."""
        bounds = events_retry_ms if client.transport == "sse" else retry_ms
        return bounds(len(self._clients) if self._leaving is None else self._leaving)

    async def answer(self, client: Client, frames: list[Frame]) -> None:
        """Sends a client frames, and counts them."""
        await client.answer(frames)
        self.answers[client.name] += len(frames)
        self.answered_length[client.name] += sum(map(len, frames))

    async def _close(self, client: Client, code: CloseCode) -> None:
        """Ends a connection for a reason, which the log names."""
        self.closes[client.kind, code] += 1
        if code is not CloseCode.SERVICE_RESTART:  # a stop closes every connection
            log.info(
                "connection closed",
                connection=client.session.connection,
                feed=client.name,
                transport=client.transport,
                code=int(code),
                reason=code.name.lower(),
            )
        await client.close(code)

    async def drain(self) -> None:
        """Tells every client that the server restarts and when to reconnect, then closes."""
        clients = list(self._clients)
        self._leaving = len(clients)
        farewells = [client.dismiss(self.retry_range(client)) for client in clients]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await asyncio.gather(*farewells, return_exceptions=True)
        for client in clients:
            client.disconnect(CloseCode.SERVICE_RESTART)
        if clients:
            await asyncio.wait([client.task for client in clients], timeout=CLOSE_SECONDS)


def retry_ms(clients: int) -> tuple[int, int]:
    """Returns the least and the greatest reconnection delay, in milliseconds.

    Clients that spread evenly between the two arrive no faster than one worker accepts them, up to the
    ceiling.
    """
    spread = clients * 1000 // HANDSHAKES_PER_SECOND
    return RETRY_FLOOR_MS, min(RETRY_FLOOR_MS + spread, RETRY_CEILING_MS)


def events_retry_ms(clients: int) -> tuple[int, int]:
    """Returns the least and the greatest reconnection delay of event streams, in milliseconds."""
    least, most = EVENTS_RETRY_MS
    return least, max(most, retry_ms(clients)[1])
