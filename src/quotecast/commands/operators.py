"""`quotecast operators`: adds, lists and removes operators, and prints the log of what operators did."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Final

from msgspec.structs import astuple, fields

from quotecast.commands.account_database import (
    PAGE,
    answering_url,
    failures_in_a_line,
    in_transaction,
    open_database,
    plain,
)
from quotecast.commands.shell_log import shell_actor
from quotecast.csv_text import write_csv
from quotecast.database.database import Run
from quotecast.errors import NotFound, QuotecastError, SettingsError
from quotecast.local import console, signing
from quotecast.operators import actions, storage, totp
from quotecast.operators.actions import Action, record
from quotecast.operators.storage import OperatorListed
from quotecast.operators.totp import seal
from quotecast.settings.model import Settings
from quotecast.users import rules, users

COLUMNS: Final = tuple(field.name for field in fields(Action))


def run(settings: Settings, arguments: Namespace) -> int:
    """Runs the action that the arguments name. Raises QuotecastError if it fails."""
    with failures_in_a_line():
        try:
            url = answering_url(settings)
            match arguments.action:
                case "add":
                    _add(settings, url, rules.lower_email(arguments.email), with_totp=arguments.totp)
                case "remove":
                    email = rules.lower_email(arguments.email)
                    in_transaction(url, partial(_remove, email=email))
                    console.say(f"{email} is no longer an operator, and is signed out")
                case "list":
                    listed = in_transaction(url, storage.listed)
                    console.say_all(console.json_lines(listed) if arguments.json else _lines(listed))
                case _:
                    asyncio.run(_print_log(url, as_csv=arguments.csv, as_json=arguments.json))
        except NotFound as error:
            raise QuotecastError(f"{error}: {rules.lower_email(arguments.email)}") from error
    return 0


def _add(settings: Settings, url: str, email: str, *, with_totp: bool) -> None:
    secret = totp.new_secret() if with_totp else None
    key = _sealing_key(settings) if with_totp else ""

    async def write(run: Run) -> bool:
        user_id = await users.id_of(run, email)
        sealed = None if secret is None else seal(secret, user_id, key)
        is_new = await storage.add(run, user_id, sealed, datetime.now(UTC))
        if is_new or with_totp:
            detail = "with codes" if with_totp else "without codes"
            await record(run, shell_actor(), "operators.add", target=user_id, detail=detail)
        return is_new

    is_new = in_transaction(url, write)
    console.say(f"{email} {'is an operator now' if is_new else 'was an operator already'}")
    if secret is not None:
        console.say("The secret of the codes, shown this once; enter it in an app for codes:")
        console.say(totp.text_of(secret))
        console.say(totp.uri_of(secret, email))
    if settings.admin == "off":
        console.say("The page /admin is off: set QUOTECAST_ADMIN=on for the workers and the ingest")


async def _remove(run: Run, email: str) -> None:
    user_id = await users.id_of(run, email)
    await storage.remove(run, user_id)
    await record(run, shell_actor(), "operators.remove", target=user_id)


def _sealing_key(settings: Settings) -> str:
    """Returns the secret of the workers. Raises SettingsError."""
    if settings.jwt_secret:
        return settings.jwt_secret
    if (settings.data_dir / signing.FILE).exists():
        return signing.load_secret(settings.data_dir)
    raise SettingsError("QUOTECAST_JWT_SECRET: give the secret of the workers; it seals those of codes")


def _lines(operators: list[OperatorListed]) -> Iterator[str]:
    width = max((len(each.email) for each in operators), default=0)
    for each in operators:
        state = "disabled" if each.disabled else "active"
        codes = "codes" if each.has_totp else "no codes"
        seen = f"{each.seen_at:%Y-%m-%d %H:%M:%SZ}" if each.seen_at else "signed out"
        yield f"{each.id}  {plain(each.email):<{width}}  {state:<8}  {codes:<8}  {seen}"


async def _print_log(url: str, *, as_csv: bool, as_json: bool) -> None:
    before: int | None = None
    if as_csv:
        sys.stdout.write(f"{','.join(COLUMNS)}\r\n")
    async with open_database(url) as database:
        while rows := await database.transaction(partial(actions.page, before=before, limit=PAGE)):
            if as_csv:
                _, _, text = write_csv(COLUMNS, map(astuple, rows)).decode().partition("\r\n")
            else:
                lines = console.json_lines(rows) if as_json else _log_lines(rows)
                text = "".join(f"{line}\n" for line in lines)
            sys.stdout.write(text)
            before = rows[-1].id
    sys.stdout.flush()


def _log_lines(rows: list[Action]) -> Iterator[str]:
    for row in rows:
        about = " ".join(filter(None, (row.target, row.email, row.key_name, row.detail)))
        yield plain(
            f"{row.happened_at:%Y-%m-%d %H:%M:%SZ}  {row.via:<5}  {row.actor} {row.address}"
            f"  {row.action}  {row.outcome}  {about}"
        )
