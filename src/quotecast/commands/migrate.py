"""`quotecast migrate`: brings the tables up to date; safe from many machines at once."""

import asyncio
import sys
from argparse import Namespace

from quotecast.accounts import migrations
from quotecast.errors import SettingsError
from quotecast.settings.model import Settings


def run(settings: Settings) -> int:
    """Applies what has not been applied. Raises QuotecastError if the database does not take it."""
    names = asyncio.run(migrations.apply(_url(settings)))
    _print_result("applied", names)
    return 0


def undo(settings: Settings, arguments: Namespace) -> int:
    """Takes the newest migration back; in production only when `--losing` names what is deleted with it.

    Raises QuotecastError if the database does not take it.
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
    sys.stderr.write(f"{done}: {', '.join(names)}\n" if names else f"Nothing to be {done}.\n")
