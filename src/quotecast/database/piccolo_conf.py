"""Piccolo's engine and apps; `PICCOLO_CONF` names this module.

`PICCOLO_CONF=quotecast.database.piccolo_conf piccolo migrations new accounts --auto` writes the next
migration from the changes in the tables.
"""

from typing import Final

from piccolo.conf.apps import AppRegistry

from quotecast.database.engine import DB

__all__ = ["APP_REGISTRY", "DB"]

APP_REGISTRY: Final = AppRegistry(apps=["quotecast.database.piccolo_app"])
