"""Tickets of keys and places of sockets in Redis, which all workers share."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Self

from quotecast.access.key_text import digest
from quotecast.errors import QuotecastError
from quotecast.redis.breaker import CircuitBreaker
from quotecast.redis.client import check_writable, connect, drop_connections
from quotecast.redis.commands import MeasuredCommand
from quotecast.redis.lua import lua

#: Seconds in which a ticket opens one socket or event stream.
TICKET_SECONDS: Final = 30
#: Seconds for which a socket has its place, and between two renewals; a crashed worker's places end by
#: themselves.
LEASE_SECONDS: Final = 90
RENEW_SECONDS: Final = 30.0
#: Names of sockets in one call.
_PART: Final = 1000


class TicketsAway(QuotecastError):
    """Redis does not answer, so that no ticket can be made or used."""

    status = 503
    code = "tickets_away"
    cause = "Redis is unavailable, so there are no [tickets](keys.md#in-a-browser)"
    remedy = "wait for `Retry-After`"
    retry_after = 1.0
    text = "Tickets are not available now"


class SharedAccess:
    """Tickets and places of sockets, over all workers.

    A call of Redis may take `budget` seconds. Without Redis there are no tickets, and each worker counts its
    own sockets: then n workers admit at most n times a plan's sockets.
    """

    def __init__(self, url: str, prefix: str, *, budget: float = 0.25) -> None:
        self._client = connect(url, "access")
        self._prefix = prefix
        self._budget = budget
        self._take = self._client.register_script(lua("access", "take_place"))
        self._renew = self._client.register_script(lua("access", "renew_places"))
        self._own: defaultdict[str, set[str]] = defaultdict(set)
        self._breaker = CircuitBreaker(
            self._probe,
            pause=1.0,
            opened="each worker counts the sockets of keys alone",
            closed="all workers count the sockets of keys together again",
        )

    async def __aenter__(self) -> Self:
        await self._breaker.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._breaker.stop()
        await self._client.aclose()

    async def add_ticket(self, ticket: str, key_id: str) -> None:
        """Stores a ticket for a key. Raises TicketsAway."""
        await self._ask(partial(self._client.set, self._ticket_name(ticket), key_id, ex=TICKET_SECONDS))

    async def use_ticket(self, ticket: str) -> str | None:
        """Returns the id of a ticket's key, once; None for an unknown or used ticket. Raises TicketsAway."""
        found = await self._ask(partial(self._client.getdel, self._ticket_name(ticket)))
        return None if found is None else found.decode()

    async def take_place(self, key_id: str, name: str, limit: int) -> bool:
        """Counts a socket of a key; returns False, and counts nothing, if the key has its most."""
        own = self._own[key_id]
        if len(own) >= limit:
            return False
        own.add(name)
        arguments: list[str | int] = [name, limit, LEASE_SECONDS * 1000]
        try:
            taken = bool(await self._ask(partial(self._take, [self._places_name(key_id)], arguments)))
        except TicketsAway:
            return True
        except asyncio.CancelledError:
            # The client left: nobody will free the place, and a renewal would keep it.
            self._forget(key_id, name)
            raise
        if not taken:
            self._forget(key_id, name)
        return taken

    async def leave_place(self, key_id: str, name: str) -> None:
        """Frees the place of a socket. Never raises."""
        self._forget(key_id, name)
        with contextlib.suppress(TicketsAway):
            await self._ask(partial(self._client.zrem, self._places_name(key_id), name))

    async def run(self) -> None:
        """Renews the places of open sockets without end."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await self.renew()

    async def renew(self) -> None:
        """Renews the places of all open sockets. Never raises."""
        for key_id, own in list(self._own.items()):
            names = list(own)
            for start in range(0, len(names), _PART):
                arguments: list[str | int] = [LEASE_SECONDS * 1000, *names[start : start + _PART]]
                with contextlib.suppress(TicketsAway):
                    await self._ask(partial(self._renew, [self._places_name(key_id)], arguments))

    def _forget(self, key_id: str, name: str) -> None:
        self._own[key_id].discard(name)
        if not self._own[key_id]:
            del self._own[key_id]

    def _ticket_name(self, ticket: str) -> str:
        # Redis holds no ticket that a reader of its data could use.
        return f"{self._prefix}:ticket:{digest(ticket)}"

    def _places_name(self, key_id: str) -> str:
        return f"{self._prefix}:sockets:{key_id}"

    async def _ask(self, command: Callable[[], Awaitable[Any]]) -> Any:
        """Returns Redis's answer. Raises TicketsAway."""
        if self._breaker.is_open:
            raise TicketsAway
        try:
            async with MeasuredCommand(self._client, "access"), asyncio.timeout(self._budget):
                answer = await command()
        except Exception as error:
            self._breaker.record_failure(error)
            raise TicketsAway from error
        self._breaker.record_success()
        return answer

    async def _probe(self) -> None:
        await drop_connections(self._client, "access")
        await check_writable(self._client)
