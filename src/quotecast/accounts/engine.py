"""Piccolo's engine: it says that the database is PostgreSQL, and runs the migrations.

Queries of the service do not go through it: `quotecast.accounts.database` sends them.
"""

from typing import Final

from piccolo.engine.postgres import PostgresEngine


class Engine(PostgresEngine):
    """Piccolo's engine, except that making one does not connect."""

    async def check_version(self) -> None:
        """Asks nothing: there may be no server yet."""


DB: Final = Engine(config={})
