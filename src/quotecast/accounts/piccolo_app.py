"""Piccolo's configuration of the app `accounts`: its tables and the folder of its migrations."""

from pathlib import Path
from typing import Final

from piccolo.conf.apps import AppConfig

from quotecast.accounts.tables import Holding, IdempotencyKey, Layout, User, WatchlistEntry

_PACKAGE: Final = Path(__file__).parents[1]
# An installed package holds the migrations itself; a checkout has them at its top.
_FOLDERS: Final = (_PACKAGE / "migrations", _PACKAGE.parents[1] / "migrations")

APP_CONFIG: Final = AppConfig(
    app_name="accounts",
    migrations_folder_path=next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0]),
    table_classes=[User, Holding, IdempotencyKey, WatchlistEntry, Layout],
)
