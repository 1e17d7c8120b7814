"""The migrations of this release, and whether a database has them all.

Piccolo applies them (`quotecast.database.migrations`). Its import takes half a second, and most starts find
them all applied.
"""

import re
from pathlib import Path
from typing import Final

import asyncpg

#: The app's name in Piccolo's table of applied migrations.
APP: Final = "accounts"
_PACKAGE: Final = Path(__file__).parents[1]
# An installed package holds the migrations itself; a checkout has them at its top.
_FOLDERS: Final = (_PACKAGE / "migrations", _PACKAGE.parents[1] / "migrations")
FOLDER: Final = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])
_ID: Final = re.compile(r'^ID(?:: Final)? = "(.+)"$', re.MULTILINE)
_SECONDS: Final = 10.0


def migration_names() -> set[str]:
    """Returns the names of the release's migrations."""
    return {found[1] for path in FOLDER.glob(f"{APP}_*.py") if (found := _ID.search(path.read_text("utf-8")))}


async def are_applied(url: str) -> bool:
    """Returns whether the database has every migration of the release, and no other.

    Raises OSError or asyncpg's errors if the database does not answer.
    """
    connection = await asyncpg.connect(url, timeout=_SECONDS)
    try:
        rows = await connection.fetch("SELECT name FROM migration WHERE app_name = $1", APP)
    except asyncpg.UndefinedTableError:
        return False
    finally:
        await connection.close()
    return {row["name"] for row in rows} == migration_names()
