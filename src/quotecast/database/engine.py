"""Piccolo's engine: it declares the dialect, PostgreSQL, and runs the migrations.

The service's own queries go through `quotecast.database.database` instead.
"""

from typing import Final

from piccolo.engine.postgres import PostgresEngine


class Engine(PostgresEngine):
    """Piccolo's engine for PostgreSQL, without a connection at construction."""

    async def check_version(self) -> None:
        """Does nothing: there may be no server yet."""


DB: Final = Engine(config={})
