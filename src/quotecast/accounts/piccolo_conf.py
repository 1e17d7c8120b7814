"""Where Piccolo looks for its engine and its apps, once `PICCOLO_CONF` names this module.

`PICCOLO_CONF=quotecast.accounts.piccolo_conf piccolo migrations new accounts --auto` writes the next
migration from what changed in the tables.
"""

from typing import Final

from piccolo.conf.apps import AppRegistry
from piccolo.engine.postgres import PostgresEngine


class Engine(PostgresEngine):
    """Piccolo's engine, except that making one does not connect."""

    async def check_version(self) -> None:
        """Asks nothing: there may be no server yet."""


DB: Final = Engine(config={})
APP_REGISTRY: Final = AppRegistry(apps=["quotecast.accounts.piccolo_app"])
