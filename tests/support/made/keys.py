"""API keys that a test makes as the operator does, in the database of a running service."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from quotecast.access import storage
from quotecast.access.key_text import key_text, new_secret
from quotecast.access.keys import Scope
from quotecast.access.plans import Plan
from quotecast.database.database import Database, Run
from quotecast.database.ids import new_id

T = TypeVar("T")


class KeyMaker:
    """Makes, changes and revokes keys in one database."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url

    def make(self, plan: str = "user", *, until: datetime | None = None, **scope: Any) -> tuple[str, str]:
        """Returns the id and the text of a new key."""
        key_id, secret = new_id(time.time), new_secret()
        add = partial(
            storage.add_for_operator,
            key_id=key_id,
            secret=secret,
            name="test",
            plan=plan,
            scope=Scope(**scope),
            now=datetime.now(UTC),
            until=until,
        )
        self._run(add)
        return key_id, key_text(key_id, secret)

    def revoke(self, key_id: str) -> None:
        self._run(lambda run: storage.revoke_any(run, key_id, datetime.now(UTC)))

    def set_plan(self, key_id: str, plan: str) -> None:
        self._run(lambda run: storage.set_plan(run, key_id, plan))

    def store_plan(self, name: str, plan: Plan) -> None:
        self._run(lambda run: storage.store_plan(run, name, plan, datetime.now(UTC)))

    def _run(self, work: Callable[[Run], Awaitable[T]]) -> T:
        async def once() -> T:
            async with Database(self._url, pool_size=1, statement_cache=0) as database:
                return await database.transaction(work)

        return asyncio.run(once())
