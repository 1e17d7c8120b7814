"""API keys and sessions of users as a worker serves them: its book, and what all workers share."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Final

from quotecast.access.errors import InvalidKey, SessionEnded
from quotecast.access.grant import Grant
from quotecast.access.key_book import Holder, KeyBook
from quotecast.access.key_text import new_ticket
from quotecast.access.keys import is_session, session_name
from quotecast.access.plans import Plan, of_everybody
from quotecast.access.shared import SharedAccess
from quotecast.access.usage import Usage
from quotecast.database.database import Database
from quotecast.errors import Busy, DatabaseAway, InvalidToken
from quotecast.stream.clients import Clients

#: Seconds that a read of quotes waits for PostgreSQL, and seconds without another try when that was too long.
SESSION_SECONDS: Final = 1.0
AWAY_SECONDS: Final = 2.0
#: Ended sessions that a worker remembers, and for how many seconds: each read with their tokens asks nobody.
MAX_ENDED: Final = 10_000
ENDED_SECONDS: Final = 60.0


class KeyAccess:
    """Finds keys and tickets, and counts the sockets of keys.

    `plans` are those of the file. `clock` gives monotonic seconds, `wall_clock` Unix time.
    """

    def __init__(
        self,
        database: Database,
        shared: SharedAccess,
        plans: Mapping[str, Plan],
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.book = KeyBook(database, plans, clock=clock, wall_clock=wall_clock)
        self._clock = clock
        self._ended: dict[str, float] = {}
        self._away_until = float("-inf")
        self.shared = shared
        self.usage = Usage()
        anonymous, user = of_everybody(plans)
        #: Whether users have another plan than everybody.
        self.users_differ = user != anonymous

    def follow(self, clients: Clients) -> None:
        """Ends the sockets of keys that end or whose rights change."""
        self.book.on_end = clients.end_key
        clients.present_grant = self._present_grant

    def _present_grant(self, grant: Grant) -> Grant | None:
        holder = self.book.named(grant.key.id) if grant.key else None
        return None if holder is None else Grant.of(holder)

    @property
    def state(self) -> object:
        """Another object whenever a known key may have other rights than before."""
        return self.book.state

    async def find(self, text: str, address: str) -> Holder:
        """Returns the holder of a key. Raises InvalidKey, DatabaseAway, Busy or TooManyRequests."""
        return await self.book.find(text, address)

    async def use_ticket(self, ticket: str) -> Holder:
        """Returns the holder of a ticket, once.

        Raises InvalidKey, SessionEnded, TicketsAway, DatabaseAway or Busy.
        """
        key_id = await self.shared.use_ticket(ticket)
        if key_id is None:
            raise InvalidKey
        try:
            return await self.book.find_named(key_id)
        except InvalidKey:
            raise SessionEnded if is_session(key_id) else InvalidKey from None

    async def find_session(self, session_id: str) -> Holder:
        """Returns the holder of a user's session. Raises InvalidToken, DatabaseAway or Busy."""
        try:
            return await self.book.find_named(session_name(session_id))
        except InvalidKey:
            raise InvalidToken from None

    async def is_open_session(self, session_id: str) -> bool:
        """Whether a user's session goes on. While PostgreSQL is away or slow, one that is not known does.

        Its token is a valid one, and quotes wait for no database.
        """
        name, now = session_name(session_id), self._clock()
        if self.book.is_fresh() and self.book.named(name):
            return True
        if now < self._ended.get(session_id, now):
            return False
        if now < self._away_until:
            return True
        try:
            async with asyncio.timeout(SESSION_SECONDS):
                await self.book.find_named(name)
        except InvalidKey:
            if len(self._ended) >= MAX_ENDED:
                self._ended.clear()
            self._ended[session_id] = self._clock() + ENDED_SECONDS
            return False
        except Busy:
            return True
        except (DatabaseAway, TimeoutError):
            self._away_until = self._clock() + AWAY_SECONDS
        return True

    async def make_ticket(self, key_id: str) -> str:
        """Returns a new ticket of a key. Raises TicketsAway."""
        ticket = new_ticket()
        await self.shared.add_ticket(ticket, key_id)
        return ticket

    async def make_session_ticket(self, session_id: str) -> str:
        """Returns a new ticket of a user's session. Raises TicketsAway."""
        return await self.make_ticket(session_name(session_id))

    async def take_place(self, holder: Holder, name: str) -> bool:
        """Counts a socket of a key; returns False, and counts nothing, if its plan has no more."""
        key_id, most = holder.key.id, holder.plan.sockets
        self.book.hold(key_id)
        has_place = False
        try:
            has_place = most is None or await self.shared.take_place(key_id, name, most)
        finally:
            if not has_place:
                self.book.release(key_id)
        return has_place

    async def leave_place(self, holder: Holder, name: str) -> None:
        """Frees the place of a socket."""
        self.book.release(holder.key.id)
        if holder.plan.sockets is not None:
            await self.shared.leave_place(holder.key.id, name)
