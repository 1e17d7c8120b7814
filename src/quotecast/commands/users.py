"""`quotecast users`: who is registered, and what an operator may do about it.

What is asked of a person is asked outside the event loop, which would keep Ctrl-C from them.
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

#: What is done to the user of an email, in a transaction.
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
    "delete": "was deleted, with holdings, watchlist and layout",
}


class UsersFailed(QuotecastError):
    """The command could not do what it was asked."""

    code = "users"


def run(settings: Settings, arguments: Namespace) -> int:
    """Does what the arguments name; raises QuotecastError if that cannot be done."""
    # An outage is told in one line, below; the log would tell it again.
    configure_logs(level="error", as_json=False)
    try:
        _act(_answering_url(settings), arguments)
    except NotFound as error:
        raise UsersFailed(f"Nobody is registered with {rules.lower_email(arguments.email)}") from error
    except InvalidValue as error:
        raise UsersFailed(f"{error.field}: {error}") from error
    except DatabaseAway as error:
        raise UsersFailed(_trouble(error.__cause__)) from error
    except (KeyboardInterrupt, EOFError) as error:
        raise UsersFailed("Interrupted") from error
    except BrokenPipeError:
        # Whoever reads has seen enough. Python would try to write the rest once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def database_url(settings: Settings) -> str:
    """The database that the settings name, or that of the `up` which was started on the data folder.

    Raises SettingsError if there is neither.
    """
    if settings.database_url:
        return settings.database_url
    pid_file = postgres.pid_file(settings.data_dir.resolve() / "postgres")
    try:
        # The fifth line is where PostgreSQL says in which folder its socket lies.
        return postgres.url(Path(pid_file.read_text().splitlines()[4]))
    except (OSError, IndexError) as error:
        raise _nothing_runs(settings) from error


def _answering_url(settings: Settings) -> str:
    """The URL of a database that answers."""
    url = database_url(settings)
    try:
        asyncio.run(probes.postgres(url))
    except probes.NoAnswer as error:
        if settings.database_url:
            raise
        # A killed PostgreSQL leaves its file behind.
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


def _act(url: str, arguments: Namespace) -> None:
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
    """One connection; without prepared statements, so that any pooler may lie between."""
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
    """Everybody, in the order in which they registered."""
    after = ""
    while page := await database.transaction(partial(users.page, after=after, limit=_PAGE)):
        yield page
        after = page[-1].id


def _table_lines(page: list[UserRow]) -> Iterator[str]:
    # Names come last: how wide a terminal shows them cannot be known.
    width = max(len(user.email) for user in page)
    for user in page:
        state = "disabled" if user.disabled else "active"
        registered = f"{user.created_at:%Y-%m-%d %H:%M:%SZ}"
        email, name = _plain(user.email), _plain(user.name)
        yield f"{user.id}  {registered}  {state:<8}  {email:<{width}}  {name}"


def _json_lines(page: list[UserRow]) -> Iterator[str]:
    for user in page:
        shown = {
            "id": user.id,
            "email": user.email,
            "name": user.name,
            "created_at": user.created_at,
            "disabled": user.disabled,
        }
        # All in ASCII, and its last character too is one that terminals obey.
        yield json.dumps(msgspec.to_builtins(shown)).replace("\x7f", "\\u007f")


def _plain(text: str) -> str:
    """Without what a terminal would take for a command."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _new_hash(url: str, email: str) -> str:
    _check_registered(url, email)
    return asyncio.run(_hash(rules.password(_read_password())))


async def _hash(password: str) -> str:
    async with Passwords() as passwords:
        return await passwords.hash(password)


def _read_password() -> str:
    """The new password: asked for twice on a terminal, else the first line that comes in."""
    if not sys.stdin.isatty():
        return _read_line()
    password = getpass.getpass("New password: ")
    if getpass.getpass("Once more: ") != password:
        raise UsersFailed("These were two passwords; nothing was changed")
    return password


def _confirm(url: str, email: str, *, confirmed: bool) -> None:
    if confirmed:
        return
    if not sys.stdin.isatty():
        raise SettingsError("Deleting cannot be undone: say --yes")
    _check_registered(url, email)
    console.say(f"{email} goes, with holdings, watchlist and layout. Type the email to confirm:")
    if _read_line().strip().lower() != email:
        raise UsersFailed("That was not the email; nothing was deleted")


def _read_line() -> str:
    """A line of the input; bytes that are no UTF-8 become what the rules refuse."""
    return sys.stdin.buffer.readline().decode(errors="surrogateescape").rstrip("\r\n")


def _check_registered(url: str, email: str) -> None:
    """So that nobody is asked in vain."""
    if _in_transaction(url, partial(users.find, email=email)) is None:
        raise NotFound("User")
