"""`quotecast migrate`: brings the tables up to date; safe from many machines at once."""

import asyncio
from argparse import Namespace

from quotecast.database import migrations
from quotecast.errors import SettingsError
from quotecast.local import console
from quotecast.settings.model import Settings


def run(settings: Settings, _: Namespace) -> int:
    """Applies all pending migrations. Raises QuotecastError if the database refuses them."""
    names = asyncio.run(migrations.apply(_url(settings)))
    _print_result("applied", names)
    return 0


def undo(settings: Settings, arguments: Namespace) -> int:
    """Undoes the newest migration; in production only if `--losing` names the deleted tables and columns.

    Raises QuotecastError if the database refuses.
    """
    losing = None if arguments.losing is None else arguments.losing.split(",")
    if settings.mode == "production":
        losing = losing or []
    names = asyncio.run(migrations.undo(_url(settings), losing=losing))
    _print_result("undone", names)
    return 0


def _url(settings: Settings) -> str:
    if not settings.database_url:
        raise SettingsError(
            "QUOTECAST_DATABASE_URL: name the PostgreSQL; the embedded one is migrated by `quotecast up`"
        )
    return settings.database_url


def _print_result(done: str, names: list[str]) -> None:
    console.note(f"{done}: {', '.join(names)}" if names else f"Nothing to be {done}.")
