"""`quotecast users`: who is registered, and what an operator may do about it."""

import asyncio
import functools
import getpass
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from quotecast.accounts import rules, users
from quotecast.accounts.database import Database, Run
from quotecast.accounts.passwords import Passwords
from quotecast.accounts.users import UserRow
from quotecast.errors import DatabaseAway, InvalidValue, NotFound, QuotecastError, SettingsError
from quotecast.local import postgres, terminal
from quotecast.settings import Settings

T = TypeVar("T")

_PAGE: Final = 500


class UsersFailed(QuotecastError):
    """The command could not do what it was asked."""

    code = "users"


def run(settings: Settings, arguments: Namespace) -> int:
    """Does what the arguments name; raises QuotecastError if that cannot be done."""
    try:
        asyncio.run(_run(database_url(settings), arguments))
    except DatabaseAway as error:
        raise UsersFailed(
            "The database does not answer, or has no tables yet: run `quotecast migrate`"
        ) from error
    except NotFound as error:
        raise UsersFailed(f"Nobody is registered with {arguments.email}") from error
    except InvalidValue as error:
        raise UsersFailed(f"{error.field}: {error}") from error
    return 0


def database_url(settings: Settings) -> str:
    """The database that the settings name, or that of the `up` which runs on the data folder.

    Raises SettingsError if there is neither.
    """
    if settings.database_url:
        return settings.database_url
    pid_file = postgres.pid_file(settings.data_dir.resolve() / "postgres")
    try:
        sockets = pid_file.read_text().splitlines()[4]
    except (OSError, IndexError) as error:
        raise SettingsError(
            "QUOTECAST_DATABASE_URL: name a PostgreSQL, or start `quotecast up`, which brings one"
        ) from error
    return postgres.url(Path(sockets))


async def _run(url: str, arguments: Namespace) -> None:
    async with Database(url, pool_size=1) as database:
        match arguments.action:
            case "list":
                await _list(database, as_json=arguments.json)
            case "password":
                await _password(database, rules.lowered(arguments.email))
            case "delete":
                await _delete(database, rules.lowered(arguments.email), confirmed=arguments.yes)
            case action:
                change, done = _CHANGES[action]
                email = rules.lowered(arguments.email)
                await database.transaction(lambda run: change(run, email))
                terminal.say(f"{email} {done}")


_CHANGES: Final[dict[str, tuple[Callable[[Run, str], Awaitable[None]], str]]] = {
    "disable": (
        functools.partial(users.set_disabled, disabled=True),
        "may not log in any more, and is logged out everywhere",
    ),
    "enable": (functools.partial(users.set_disabled, disabled=False), "may log in again"),
    "revoke": (users.revoke_tokens, "is logged out everywhere"),
}


async def _list(database: Database, *, as_json: bool) -> None:
    async for user in _everybody(database):
        if as_json:
            shown = {
                "id": user.id,
                "email": user.email,
                "name": user.name,
                "created_at": user.created_at,
                "disabled": user.disabled,
            }
            sys.stdout.write(msgspec.json.encode(shown).decode() + "\n")
        else:
            state = "disabled" if user.disabled else "active"
            day = user.created_at.date().isoformat()
            sys.stdout.write(f"{user.id}  {day}  {state:<8}  {_plain(user.email)}  {_plain(user.name)}\n")


async def _everybody(database: Database) -> AsyncIterator[UserRow]:
    """In the order in which they registered, a page at a time."""
    page: list[UserRow] = []
    while True:
        after = page[-1].id if page else ""
        page = await database.transaction(functools.partial(users.page, after=after, limit=_PAGE))
        for user in page:
            yield user
        if len(page) < _PAGE:
            return


async def _password(database: Database, email: str) -> None:
    if await database.transaction(functools.partial(users.find, email=email)) is None:
        raise NotFound("User")
    password = rules.password(_asked())
    async with Passwords() as passwords:
        password_hash = await passwords.hash(password)
    await database.transaction(lambda run: users.set_password(run, email, password_hash))
    terminal.say(f"{email} has a new password, and is logged out everywhere")


def _asked() -> str:
    """The new password: asked for twice on a terminal, else the first line that comes in."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("New password: ")
    if getpass.getpass("Once more: ") != password:
        raise UsersFailed("These were two passwords; nothing was changed")
    return password


async def _delete(database: Database, email: str, *, confirmed: bool) -> None:
    if not confirmed:
        if not sys.stdin.isatty():
            raise SettingsError("Deleting cannot be undone; say --yes")
        terminal.say(f"{email} goes, with holdings, watchlist and layout. Type the email to confirm:")
        if sys.stdin.readline().strip().lower() != email:
            raise UsersFailed("Nothing was deleted")
    await database.transaction(lambda run: users.delete(run, email))
    terminal.say(f"{email} was deleted, with holdings, watchlist and layout")


def _plain(text: str) -> str:
    """Without what a terminal would take for a command."""
    return "".join(character if character.isprintable() else "?" for character in text)
