"""`quotecast plans`: lists, shows, stores, deletes and checks the plans of API keys."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from quotecast.access import storage
from quotecast.access.plans import RESERVED, Plan, check_name, parse_plan, read_plans
from quotecast.commands.account_database import answering_url, failures_in_a_line, in_transaction
from quotecast.commands.shell_log import recorded
from quotecast.database.database import Run
from quotecast.errors import NotFound, QuotecastError
from quotecast.local import console
from quotecast.settings.model import Settings
from quotecast.settings.plans import plans_of


def run(settings: Settings, arguments: Namespace) -> int:
    """Runs the action that the arguments name. Raises QuotecastError if it fails."""
    with failures_in_a_line():
        match arguments.action:
            case "check":
                names = ", ".join(read_plans(Path(arguments.file)))
                console.say(f"{arguments.file} is good: it has {names or 'no plan'}")
            case "list":
                rows = list(_rows(plans_of(settings), _stored(settings)))
                console.say_all(console.json_lines(rows) if arguments.json else _lines(rows))
            case "show":
                name, plan = arguments.name, _find(settings, arguments.name)
                shown = {"name": name, **msgspec.to_builtins(plan)}
                console.say_all(console.json_lines([shown]) if arguments.json else toml_lines(name, plan))
            case "set":
                _store(settings, arguments.name, _text(arguments.file))
            case _:
                _delete(settings, check_name(arguments.name))
    return 0


class _Row(Struct):
    name: str
    #: `file`, `stored`, or `unbounded` for one that nobody defines; a file goes before the database.
    place: str
    hides_stored: bool


def _rows(given: Mapping[str, Plan], stored: Mapping[str, Plan]) -> Iterator[_Row]:
    """Yields a row for each plan."""
    for name in sorted({*given, *stored, *RESERVED}):
        place = "file" if name in given else "stored" if name in stored else "unbounded"
        yield _Row(name, place, name in given and name in stored)


def _lines(rows: list[_Row]) -> Iterator[str]:
    width = max(len(row.name) for row in rows)
    for row in rows:
        hidden = ", hides a stored one" if row.hides_stored else ""
        yield f"{row.name:<{width}}  {row.place}{hidden}"


def toml_lines(name: str, plan: Plan) -> Iterator[str]:
    """Yields the lines of a plan's table as `quotecast plans set` reads it."""
    yield f"[plans.{name}]"
    for field, value in msgspec.to_builtins(plan).items():
        if value is not None and value != {}:
            yield f"{field} = {_toml(value)}"


def _toml(value: Any) -> str:
    """Returns a number, a list of plain words or a table of numbers in TOML."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {number}' for name, number in value.items())} }}"
    return json.dumps(value)


def _stored(settings: Settings) -> dict[str, Plan]:
    return in_transaction(answering_url(settings), storage.stored_plans)


def _find(settings: Settings, name: str) -> Plan:
    given = plans_of(settings)
    if name in given:
        return given[name]
    stored = _stored(settings)
    if name not in stored:
        raise QuotecastError(f"There is no plan {name!r}: `quotecast plans list` shows all")
    return stored[name]


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except OSError as error:
        raise QuotecastError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise QuotecastError(f"{file} is not UTF-8") from error


def _store(settings: Settings, name: str, text: str) -> None:
    plan = parse_plan(text, check_name(name))

    async def write(run: Run) -> None:
        await storage.store_plan(run, name, plan, datetime.now(UTC))

    in_transaction(answering_url(settings), recorded("plans.set", write, target=name))
    console.say(f"Plan {name} is stored; workers follow within a second")
    if plan.is_delayed and not settings.delay_seconds:
        console.say("Its quotes are delayed: ingest and workers need QUOTECAST_DELAY_SECONDS, such as 900")
    if name in plans_of(settings):
        console.say(f"{settings.plans} has a plan of this name, which goes before the stored one")


def _delete(settings: Settings, name: str) -> None:
    try:
        delete = partial(storage.delete_plan, name=name)
        in_transaction(answering_url(settings), recorded("plans.delete", delete, target=name))
    except NotFound as error:
        raise QuotecastError(f"No plan {name!r} is stored") from error
    console.say(f"Plan {name} is deleted; keys with it get no data until a plan of that name exists")
