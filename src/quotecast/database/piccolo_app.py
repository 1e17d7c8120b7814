"""Piccolo's configuration of the app `accounts`: its tables and the folder of its migrations."""

from typing import Final

from piccolo.conf.apps import AppConfig

from quotecast.database.migration_files import APP, FOLDER
from quotecast.database.tables import Holding, IdempotencyKey, Layout, User, WatchlistEntry

APP_CONFIG: Final = AppConfig(
    app_name=APP,
    migrations_folder_path=FOLDER,
    table_classes=[User, Holding, IdempotencyKey, WatchlistEntry, Layout],
)
