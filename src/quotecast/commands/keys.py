"""`quotecast keys`: makes, lists and revokes API keys, gives them plans, and shows their usage."""

import asyncio
import re
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Final, Literal

import msgspec
from msgspec.structs import astuple, fields

from quotecast.access import key_text, storage
from quotecast.access.keys import Key, Scope, normalise, shown_text
from quotecast.access.plans import FEEDS, USER
from quotecast.access.storage import KEY
from quotecast.access.usage_storage import UsageRow, usage_rows
from quotecast.commands.account_database import (
    answering_url,
    failures_in_a_line,
    in_transaction,
    open_database,
    plain,
    print_pages,
)
from quotecast.commands.shell_log import recorded
from quotecast.complaints import complaint
from quotecast.csv_text import write_csv
from quotecast.database.database import Run
from quotecast.database.ids import ID_PATTERN, new_id
from quotecast.database.tables import ApiKey
from quotecast.errors import InvalidValue, NotFound, QuotecastError
from quotecast.local import console
from quotecast.market.feeds import feed_named
from quotecast.settings.model import Settings
from quotecast.settings.plans import plans_of
from quotecast.users import rules

_DAYS: Final = re.compile(r"([1-9][0-9]{0,3})d")

#: How the rows of usage are printed.
Form = Literal["text", "csv", "json"]
_COLUMNS: Final = tuple(field.name for field in fields(UsageRow))
_HEAD: Final = (
    "day         key                       requests  refused   minutes       quotes           bytes  name"
)
_HEADS: Final = {"text": f"{_HEAD}\n", "csv": f"{','.join(_COLUMNS)}\r\n", "json": ""}


def run(settings: Settings, arguments: Namespace) -> int:
    """Runs the action that the arguments name. Raises QuotecastError if it fails."""
    with failures_in_a_line():
        now = datetime.now(UTC)
        match arguments.action:
            case "create":
                _create(settings, arguments, now)
            case "list":
                lines_of = _shown_lines if arguments.json else partial(_table_lines, now=now)
                print_pages(answering_url(settings), storage.page, lines_of)
            case "plan":
                _set_plan(settings, arguments.id, arguments.plan)
            case "usage":
                url = answering_url(settings)
                key_id = None if arguments.key is None else _id_of(arguments.key)
                days = [now.date() - timedelta(days=number) for number in range(arguments.days)]
                form: Form = "csv" if arguments.csv else "json" if arguments.json else "text"
                asyncio.run(_print_usage(url, key_id, days, form))
            case _:
                key_id = _id_of(arguments.id)
                revoke = partial(storage.revoke_any, key_id=key_id, now=now)
                in_transaction(answering_url(settings), recorded("keys.revoke", revoke, target=key_id))
                console.note(
                    f"{key_text.PREFIX}{key_id} is revoked, and ends within a second on every worker"
                )
    return 0


def _create(settings: Settings, arguments: Namespace, now: datetime) -> None:
    """Makes a key, and prints it alone on standard output."""
    name, scope = rules.name(arguments.name), _scope(arguments)
    email = None if arguments.user is None else rules.lower_email(arguments.user)
    until = None if arguments.expires is None else _end(arguments.expires, now)
    key_id, secret = new_id(time.time), key_text.new_secret()

    async def write(run: Run) -> Key:
        plan = await _checked_plan(settings, run, arguments.plan)
        return await storage.add_for_operator(
            run, key_id, secret, name=name, plan=plan, scope=scope, now=now, until=until, email=email
        )

    work = recorded("keys.create", write, target=key_id, detail=f"plan {arguments.plan}")
    key = in_transaction(answering_url(settings), work)
    plan = key.plan or USER
    console.note(f"API key {key.id}, plan {plan}; this is the only time that its secret is shown:")
    console.say(key_text.key_text(key.id, secret))


def _set_plan(settings: Settings, text: str, plan: str) -> None:
    key_id = _id_of(text)

    async def write(run: Run) -> None:
        await storage.set_plan(run, key_id, await _checked_plan(settings, run, plan))

    work = recorded("keys.plan", write, target=key_id, detail=f"plan {plan}")
    in_transaction(answering_url(settings), work)
    console.note(f"{key_text.PREFIX}{key_id} has the plan {plan}; its clients connect again within a second")


async def _checked_plan(settings: Settings, run: Run, name: str) -> str:
    """Returns the plan of a key as it is stored: empty for that of users. Raises QuotecastError."""
    if name == USER:
        return ""
    known = {*plans_of(settings), *await storage.names_of_plans(run)}
    if name not in known:
        choices = ", ".join(sorted({*known, USER}))
        raise QuotecastError(f"There is no plan {plain(name)!r}: one of {choices}")
    return name


def _scope(arguments: Namespace) -> Scope:
    """Returns the scope of the options. Raises InvalidValue."""
    given = {
        name: [part for part in map(str.strip, getattr(arguments, name).split(",")) if part]
        for name in Scope.__struct_fields__
        if getattr(arguments, name) is not None
    }
    for name, values in given.items():
        if not values:
            raise InvalidValue(f"--{name}", "Name at least one, or leave the option out")
    if "feeds" in given:
        named = [(text, feed_named(text)) for text in given["feeds"]]
        given["feeds"] = [feed.spec.name if feed else text for text, feed in named]
    try:
        return normalise(msgspec.convert(given, Scope))
    except msgspec.ValidationError as error:
        problem = complaint(str(error), FEEDS)
        raise InvalidValue(f"--{problem.field}", problem.message) from error


def _end(text: str, now: datetime) -> datetime:
    """Returns the time at which a key ends. Raises InvalidValue."""
    if days := _DAYS.fullmatch(text):
        return now + timedelta(days=int(days[1]))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValue(
            "--expires", "Must be a number of days such as 90d, or a time in ISO 8601"
        ) from None
    until = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if until <= now:
        raise InvalidValue("--expires", "Must be in the future")
    return until


def _id_of(text: str) -> str:
    """Returns the id in a key's text, its beginning or the id itself. Raises NotFound for any other text."""
    key_id = text.removeprefix(key_text.PREFIX).partition("_")[0]
    if not ID_PATTERN.fullmatch(key_id):
        raise NotFound(storage.KEY)
    return key_id


def _table_lines(page: list[Key], now: datetime) -> Iterator[str]:
    # Names come last, because their width on a terminal is unknown.
    width = max(len(key.plan or USER) for key in page)
    for key in page:
        owner = key.user_id or "operator"
        made = f"{key.created_at:%Y-%m-%d %H:%M:%SZ}"
        yield (
            f"{key.id}  {made}  {_state(key, now):<7}  {key.plan or USER:<{width}}  {owner:<24}"
            f"  {plain(key.name)}"
        )


def _state(key: Key, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "active" if key.is_good(now) else "expired"


def _shown_lines(page: list[Key]) -> Iterator[str]:
    """Yields the fields of keys without their digests."""
    return console.json_lines(
        {
            "id": key.id,
            "name": key.name,
            "key": shown_text(key),
            "plan": key.plan or USER,
            "user_id": key.user_id,
            "scope": key.scope,
            "created_at": key.created_at,
            "expires_at": key.expires_at,
            "revoked_at": key.revoked_at,
            "previous_until": key.previous_until,
        }
        for key in page
    )


async def _print_usage(url: str, key_id: str | None, days: list[date], form: Form) -> None:
    """Prints the rows of days in UTC: of one key or of all. Raises NotFound.

    Reads a day at a time: all keys of a year would not fit into one transaction.
    """
    async with open_database(url) as database:
        if key_id is not None:
            await database.transaction(partial(_require_key, key_id=key_id))
        sys.stdout.write(_HEADS[form])
        for day in days:
            rows = await database.transaction(partial(usage_rows, first=day, last=day, key_id=key_id))
            if form == "csv":
                # The header is in `_HEADS`: it is written once, not for each day.
                _, _, text = write_csv(_COLUMNS, map(astuple, rows)).decode().partition("\r\n")
            else:
                lines = console.json_lines(rows) if form == "json" else map(_usage_line, rows)
                text = "".join(f"{line}\n" for line in lines)
            sys.stdout.write(text)
        sys.stdout.flush()


async def _require_key(run: Run, key_id: str) -> None:
    if not await run(ApiKey.select(ApiKey.id).where(ApiKey.id == key_id)):
        raise NotFound(KEY)


def _usage_line(row: UsageRow) -> str:
    # Names come last, because their width on a terminal is unknown.
    return (
        f"{row.day}  {row.key_id}  {row.requests:>8}  {row.refused:>7}  {row.socket_minutes:>8.1f}"
        f"  {row.quotes:>11}  {row.bytes:>14}  {plain(row.name)}"
    )
