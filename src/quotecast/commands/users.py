"""`quotecast users`: lists, disables and deletes users, and resets passwords.

Prompts run outside the event loop, because input inside it would block Ctrl-C.
"""

import asyncio
import getpass
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Final

from quotecast.commands.account_database import (
    answering_url,
    failures_in_a_line,
    in_transaction,
    plain,
    print_pages,
)
from quotecast.commands.shell_log import shell_actor
from quotecast.database.database import Run
from quotecast.errors import NotFound, QuotecastError, SettingsError
from quotecast.local import console
from quotecast.operators.actions import record
from quotecast.settings.model import Settings
from quotecast.users import rules, users
from quotecast.users.passwords import Passwords
from quotecast.users.users import UserRow

#: Changes the user with an email, in a transaction.
Change = Callable[[Run, str], Awaitable[None]]

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


def run(settings: Settings, arguments: Namespace) -> int:
    """Runs the action that the arguments name. Raises QuotecastError if it fails."""
    with failures_in_a_line():
        try:
            _run_action(answering_url(settings), arguments)
        except NotFound as error:
            raise QuotecastError(f"Nobody is registered with {rules.lower_email(arguments.email)}") from error
    return 0


def _run_action(url: str, arguments: Namespace) -> None:
    if arguments.action == "list":
        print_pages(url, users.page, _shown_lines if arguments.json else _table_lines)
        return
    email = rules.lower_email(arguments.email)
    match arguments.action:
        case "password":
            _check_registered(url, email)
            change: Change = partial(
                users.set_password, password_hash=asyncio.run(_hash(rules.password(_read_password())))
            )
        case "delete":
            _confirm(url, email, confirmed=arguments.yes)
            change = users.delete
        case action:
            change = _CHANGES[action]
    in_transaction(url, partial(_change, action=arguments.action, change=change, email=email))
    console.say(f"{email} {_DONE[arguments.action]}")


async def _change(run: Run, action: str, change: Change, email: str) -> None:
    """Changes a user, and adds a row to the log of operators' actions."""
    # Before the change, which may delete the user.
    user_id = await users.id_of(run, email)
    await change(run, email)
    await record(run, shell_actor(), f"users.{action}", target=user_id)


def _table_lines(page: list[UserRow]) -> Iterator[str]:
    # Names come last, because their width on a terminal is unknown.
    width = max(len(user.email) for user in page)
    for user in page:
        state = "disabled" if user.disabled else "active"
        registered = f"{user.created_at:%Y-%m-%d %H:%M:%SZ}"
        email, name = plain(user.email), plain(user.name)
        yield f"{user.id}  {registered}  {state:<8}  {email:<{width}}  {name}"


def _shown_lines(page: list[UserRow]) -> Iterator[str]:
    fields = ("id", "email", "name", "created_at", "disabled")
    return console.json_lines({name: getattr(user, name) for name in fields} for user in page)


async def _hash(password: str) -> str:
    async with Passwords() as passwords:
        return await passwords.hash(password)


def _read_password() -> str:
    """Returns the new password: prompts twice on a terminal, else reads the first line of the input."""
    if not sys.stdin.isatty():
        return _read_line()
    password = getpass.getpass("New password: ")
    if getpass.getpass("Once more: ") != password:
        raise QuotecastError("The two passwords differ; nothing was changed")
    return password


def _confirm(url: str, email: str, *, confirmed: bool) -> None:
    if confirmed:
        return
    if not sys.stdin.isatty():
        raise SettingsError("A deletion cannot be undone: confirm it with --yes")
    _check_registered(url, email)
    console.say(f"This deletes {email}, with holdings, watchlists and layout. Type the email to confirm:")
    if _read_line().strip().lower() != email:
        raise QuotecastError("That was not the email; nothing was deleted")


def _read_line() -> str:
    """Returns a line of the input; invalid UTF-8 becomes lone surrogates, which the rules reject."""
    return sys.stdin.buffer.readline().decode(errors="surrogateescape").rstrip("\r\n")


def _check_registered(url: str, email: str) -> None:
    """Raises NotFound for an unknown email, before any prompt."""
    if in_transaction(url, partial(users.find, email=email)) is None:
        raise NotFound("User")
