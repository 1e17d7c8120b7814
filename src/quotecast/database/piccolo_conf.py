"""Piccolo's engine and its app `accounts`; `PICCOLO_CONF` names this module.

`PICCOLO_CONF=quotecast.database.piccolo_conf piccolo migrations new accounts` writes an empty migration.
"""

from typing import Final

from piccolo.conf.apps import AppConfig, AppRegistry

from quotecast.database.engine import DB
from quotecast.database.migration_files import APP, FOLDER

__all__ = ["APP_CONFIG", "APP_REGISTRY", "DB"]

APP_CONFIG: Final = AppConfig(app_name=APP, migrations_folder_path=FOLDER)
# The registry reads APP_CONFIG from this module.
APP_REGISTRY: Final = AppRegistry(apps=[__name__])
