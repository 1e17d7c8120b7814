"""API keys and plans in a real PostgreSQL, and a worker's book of them with the clocks of a test."""

import itertools
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from quotecast.access import key_text, storage
from quotecast.access.key_book import KeyBook
from quotecast.access.keys import Scope, session_name
from quotecast.access.plans import Plan
from quotecast.database.database import Database, Run
from quotecast.database.tables import ApiKey, Session
from quotecast.users import users
from support.made.factories import NOW

T = TypeVar("T")

EMAIL: Final = "ayse@example.com"
USER_ID: Final = "5f3a9c0e1b2d4f6a8c0e1b2d"
#: The client of a test.
ADDRESS: Final = "192.0.2.7"
BASIC: Final = Plan(sockets=2)
PARTNER: Final = Plan(sockets=50)
MARKET: Final = Scope(feeds=("market",))


class Clocks:
    """Monotonic seconds and Unix time, which a test moves together."""

    def __init__(self) -> None:
        self.passed = 0.0

    def monotonic(self) -> float:
        return 1000.0 + self.passed

    def wall(self) -> float:
        return NOW + self.passed

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.wall(), UTC)


class StoredKeys:
    """Keys and plans that a test adds and changes, and the text of each key."""

    def __init__(self, database: Database, clocks: Clocks) -> None:
        self._database = database
        self._clocks = clocks
        self._numbers = itertools.count(1)

    async def run(self, work: Callable[[Run], Awaitable[T]]) -> T:
        return await self._database.transaction(work)

    async def add_user(self) -> None:
        await self.run(
            lambda run: users.create(run, user_id=USER_ID, name="Ayşe", email=EMAIL, password_hash="x")
        )

    async def add_session(self, seconds: float) -> str:
        """Adds a session of the user; returns the id of the key that stands for it."""
        session_id, now = f"{next(self._numbers):024x}", self._clocks.now()
        row = Session(
            id=session_id,
            user_id=USER_ID,
            device="",
            address="",
            created_at=now,
            expires_at=now + timedelta(seconds=seconds),
        )
        await self.run(lambda run: run(Session.insert(row)))
        return session_name(session_id)

    async def end_sessions(self) -> None:
        await self.run(lambda run: run(Session.delete().where(Session.user_id == USER_ID)))

    async def add(
        self,
        *,
        plan: str = "",
        scope: Scope | None = None,
        seconds: float | None = None,
        email: str | None = None,
    ) -> str:
        """Adds a key that may end after some seconds; returns its text."""
        key_id, secret = f"{next(self._numbers):024x}", key_text.new_secret()
        now = self._clocks.now()
        until = None if seconds is None else now + timedelta(seconds=seconds)
        await self.run(
            lambda run: storage.add_for_operator(
                run,
                key_id,
                secret,
                name="Ticker",
                plan=plan,
                scope=scope or Scope(),
                now=now,
                until=until,
                email=email,
            )
        )
        return key_text.key_text(key_id, secret)

    async def change(self, text: str, values: dict[Any, Any]) -> None:
        query = ApiKey.update(values).where(ApiKey.id == id_of(text))
        await self.run(lambda run: run(query))

    async def revoke(self, text: str) -> None:
        await self.run(lambda run: storage.revoke_any(run, id_of(text), self._clocks.now()))

    async def rotate(self, text: str, *, seconds: float) -> str:
        """Gives a key a new secret; returns its new text."""
        parsed = key_text.parse(text)
        assert parsed
        secret = key_text.new_secret()
        values = {
            ApiKey.secret_hash: key_text.digest(secret),
            ApiKey.previous_hash: key_text.digest(parsed.secret),
            ApiKey.previous_until: self._clocks.now() + timedelta(seconds=seconds),
        }
        await self.change(text, values)
        return key_text.key_text(parsed.id, secret)

    async def store_plan(self, name: str, plan: Plan) -> None:
        await self.run(lambda run: storage.store_plan(run, name, plan, self._clocks.now()))

    async def delete_plan(self, name: str) -> None:
        await self.run(lambda run: storage.delete_plan(run, name))


class ListedEnds:
    """A worker's book, and the ids of the keys whose sockets it ended."""

    def __init__(self, database: Database, clocks: Clocks, plans: Mapping[str, Plan]) -> None:
        self.book = KeyBook(database, plans, clock=clocks.monotonic, wall_clock=clocks.wall)
        self.ended: list[str] = []
        self.book.on_end = self.ended.append


def id_of(text: str) -> str:
    parsed = key_text.parse(text)
    assert parsed
    return parsed.id


def wrong_text(number: int = 0) -> str:
    """Returns the text of a key that nobody made."""
    return key_text.key_text(f"{number:024x}", "A" * 43)
