"""`quotecast users`: lists, disables and deletes users, and resets passwords.

Prompts run outside the event loop, because input inside it would block Ctrl-C.
"""

import asyncio
import getpass
import json
import os
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import asyncpg
import msgspec

from quotecast.accounts import rules, users
from quotecast.accounts.database import Database, Run
from quotecast.accounts.passwords import Passwords
from quotecast.accounts.users import UserRow
from quotecast.errors import DatabaseAway, InvalidValue, NotFound, QuotecastError, SettingsError
from quotecast.local import console, postgres, probes
from quotecast.observe.logs import configure_logs
from quotecast.settings.model import Settings

T = TypeVar("T")

#: Changes the user with an email, in a transaction.
Change = Callable[[Run, str], Awaitable[None]]

_PAGE: Final = 500

_CHANGES: Final[dict[str, Change]] = {
    "disable": partial(users.set_disabled, disabled=True),
    "enable": partial(users.set_disabled, disabled=False),
    "revoke": users.revoke_tokens,
}

_DONE: Final = {
    "disable": "may not log in any more, and is logged out everywhere",
    "enable": "may log in again",
    "revoke": "is logged out everywhere",
    "password": "has a new password, and is logged out everywhere",
    "delete": "was deleted, with holdings, watchlists and layout",
}


class UsersFailed(QuotecastError):
    """The command failed."""

    code = "users"


def run(settings: Settings, arguments: Namespace) -> int:
    """Runs the action that the arguments name. Raises QuotecastError if it fails."""
    # One line below reports an outage; the log would repeat it.
    configure_logs(level="error", as_json=False)
    try:
        _run_action(_answering_url(settings), arguments)
    except NotFound as error:
        raise UsersFailed(f"Nobody is registered with {rules.lower_email(arguments.email)}") from error
    except InvalidValue as error:
        raise UsersFailed(f"{error.field}: {error}") from error
    except DatabaseAway as error:
        raise UsersFailed(_trouble(error.__cause__)) from error
    except (KeyboardInterrupt, EOFError) as error:
        raise UsersFailed("Interrupted") from error
    except BrokenPipeError:
        # The reader closed the pipe. Without this, Python would flush the rest at exit and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def database_url(settings: Settings) -> str:
    """Returns the URL of the settings' database, or of the running `up` on the data folder.

    Raises SettingsError if there is neither.
    """
    if settings.database_url:
        return settings.database_url
    pid_file = postgres.pid_file(settings.data_dir.resolve() / "postgres")
    try:
        # PostgreSQL writes the folder of its socket to the fifth line.
        return postgres.url(Path(pid_file.read_text().splitlines()[4]))
    except (OSError, IndexError) as error:
        raise _nothing_runs(settings) from error


def _answering_url(settings: Settings) -> str:
    """Returns the URL of a database that answers."""
    url = database_url(settings)
    try:
        asyncio.run(probes.postgres(url))
    except probes.NoAnswer as error:
        if settings.database_url:
            raise
        # A killed PostgreSQL leaves its pid file behind.
        raise _nothing_runs(settings) from error
    return url


def _nothing_runs(settings: Settings) -> SettingsError:
    return SettingsError(
        "QUOTECAST_DATABASE_URL: name a PostgreSQL, or start `quotecast up`, which brings one;"
        f" none answers in {settings.data_dir.resolve()}"
    )


def _trouble(cause: BaseException | None) -> str:
    if isinstance(cause, asyncpg.UndefinedTableError):
        return "The database has no tables yet: run `quotecast migrate`"
    return f"The database failed ({type(cause).__name__}); whether anything was done is not known"


def _run_action(url: str, arguments: Namespace) -> None:
    if arguments.action == "list":
        asyncio.run(_list(url, _json_lines if arguments.json else _table_lines))
        return
    email = rules.lower_email(arguments.email)
    match arguments.action:
        case "password":
            change: Change = partial(users.set_password, password_hash=_new_hash(url, email))
        case "delete":
            _confirm(url, email, confirmed=arguments.yes)
            change = users.delete
        case action:
            change = _CHANGES[action]
    _in_transaction(url, lambda run: change(run, email))
    console.say(f"{email} {_DONE[arguments.action]}")


def _open_database(url: str) -> Database:
    """Returns a database of one connection, without prepared statements, so that it works with any pooler."""
    return Database(url, pool_size=1, statement_cache=0)


def _in_transaction(url: str, work: Callable[[Run], Awaitable[T]]) -> T:
    async def once() -> T:
        async with _open_database(url) as database:
            return await database.transaction(work)

    return asyncio.run(once())


async def _list(url: str, lines_of: Callable[[list[UserRow]], Iterator[str]]) -> None:
    async with _open_database(url) as database:
        async for page in _pages(database):
            sys.stdout.writelines(f"{line}\n" for line in lines_of(page))
    sys.stdout.flush()


async def _pages(database: Database) -> AsyncIterator[list[UserRow]]:
    """Yields pages of all users, in the order in which they registered."""
    after = ""
    while page := await database.transaction(partial(users.page, after=after, limit=_PAGE)):
        yield page
        after = page[-1].id


def _table_lines(page: list[UserRow]) -> Iterator[str]:
    # Names come last, because their width on a terminal is unknown.
    width = max(len(user.email) for user in page)
    for user in page:
        state = "disabled" if user.disabled else "active"
        registered = f"{user.created_at:%Y-%m-%d %H:%M:%SZ}"
        email, name = _plain(user.email), _plain(user.name)
        yield f"{user.id}  {registered}  {state:<8}  {email:<{width}}  {name}"


def _json_lines(page: list[UserRow]) -> Iterator[str]:
    for user in page:
        fields = {
            "id": user.id,
            "email": user.email,
            "name": user.name,
            "created_at": user.created_at,
            "disabled": user.disabled,
        }
        # json.dumps escapes everything beyond ASCII, but not DEL, which terminals interpret.
        yield json.dumps(msgspec.to_builtins(fields)).replace("\x7f", "\\u007f")


def _plain(text: str) -> str:
    """Returns the text without characters that a terminal interprets."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _new_hash(url: str, email: str) -> str:
    _check_registered(url, email)
    return asyncio.run(_hash(rules.password(_read_password())))


async def _hash(password: str) -> str:
    async with Passwords() as passwords:
        return await passwords.hash(password)


def _read_password() -> str:
    """Returns the new password: prompts twice on a terminal, else reads the first line of the input."""
    if not sys.stdin.isatty():
        return _read_line()
    password = getpass.getpass("New password: ")
    if getpass.getpass("Once more: ") != password:
        raise UsersFailed("The two passwords differ; nothing was changed")
    return password


def _confirm(url: str, email: str, *, confirmed: bool) -> None:
    if confirmed:
        return
    if not sys.stdin.isatty():
        raise SettingsError("A deletion cannot be undone: confirm it with --yes")
    _check_registered(url, email)
    console.say(f"This deletes {email}, with holdings, watchlists and layout. Type the email to confirm:")
    if _read_line().strip().lower() != email:
        raise UsersFailed("That was not the email; nothing was deleted")


def _read_line() -> str:
    """Returns a line of the input; invalid UTF-8 becomes lone surrogates, which the rules reject."""
    return sys.stdin.buffer.readline().decode(errors="surrogateescape").rstrip("\r\n")


def _check_registered(url: str, email: str) -> None:
    """Raises NotFound for an unknown email, before any prompt."""
    if _in_transaction(url, partial(users.find, email=email)) is None:
        raise NotFound("User")
