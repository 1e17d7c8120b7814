"""The command line: `quotecast up | api | ingest | migrate | record | history | users | doctor`."""

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Final

from quotecast.environment import PREFIX
from quotecast.errors import QuotecastError, SettingsError
from quotecast.settings import loading

# Names of functions instead of imports, as in a package's entry points: a command loads only the modules
# that it runs, so that `up`, `ingest` and `doctor` do not wait for the web framework.
_COMMANDS: Final = {
    "up": ("quotecast.local.up:run", "start everything here: databases, ingest and API workers"),
    "api": ("quotecast.api.main:run", "run one API worker; several may share the port"),
    "ingest": ("quotecast.ingest.main:run", "run one ingest: upstreams to the bus"),
    "migrate": ("quotecast.commands.migrate:run", "bring the database's tables up to date"),
    "record": ("quotecast.commands.record:run", "record an upstream's messages, for the provider `replay`"),
    "history": ("quotecast.commands.history:run", "list what is recorded of the feeds, or export it"),
    "users": ("quotecast.commands.users:run", "list, disable or delete users, or reset their passwords"),
    "doctor": (
        "quotecast.commands.doctor:run",
        "check whether `up` would work here, and with which settings",
    ),
}

_WITH_ARGUMENTS: Final = {
    "quotecast.commands.users:run",
    "quotecast.commands.migrate:undo",
    "quotecast.commands.record:run",
    "quotecast.commands.history:run",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code: 0, 1 for a failure, 2 for wrong settings."""
    parsed = _parser().parse_args(arguments)
    try:
        return _run(parsed)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except QuotecastError as error:
        sys.stderr.write(f"quotecast: {error}\n")
        return 1


def _run(arguments: argparse.Namespace) -> int:
    settings = loading.load()
    module, function = arguments.entry.split(":")
    command = getattr(importlib.import_module(module), function)
    code: int = command(settings, arguments) if arguments.entry in _WITH_ARGUMENTS else command(settings)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="quotecast",
        description="Live market data over HTTP and WebSocket.",
        epilog=f"Settings are environment variables named {PREFIX}*; `quotecast doctor` shows them.",
    )
    parser.add_argument("--version", action="version", version=f"quotecast {version('quotecast')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (entry, summary) in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        command.set_defaults(entry=entry)
    _add_variants(commands.choices)
    _add_actions(commands.choices["users"])
    _add_recording(commands.choices["record"])
    _add_history(commands.choices["history"])
    return parser


def _add_variants(commands: Mapping[str, argparse.ArgumentParser]) -> None:
    for name, option, entry, summary in (
        (
            "migrate",
            "--undo",
            "quotecast.commands.migrate:undo",
            "undo the newest migration, and delete the data in its tables",
        ),
        (
            "up",
            "--live",
            "quotecast.local.up:live",
            "real upstreams, where they need no key or the key is set",
        ),
    ):
        commands[name].add_argument(option, dest="entry", action="store_const", const=entry, help=summary)
    commands["migrate"].add_argument(
        "--losing", metavar="NAMES", help="tables and columns that `--undo` deletes; required in production"
    )


def _add_actions(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (
        ("list", "list all registered users"),
        ("disable", "disable a user, and end their sessions"),
        ("enable", "enable a disabled user"),
        (
            "password",
            "set a user's password, read from the input, and end their sessions",
        ),
        ("revoke", "end a user's sessions"),
        ("delete", "delete a user, with holdings, watchlist and layout"),
    ):
        action = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == "list":
            action.add_argument("--json", action="store_true", help="a JSON object per line")
        else:
            action.add_argument("email", metavar="EMAIL")
        if name == "delete":
            action.add_argument("--yes", action="store_true", help="do not ask")


def _add_recording(command: argparse.ArgumentParser) -> None:
    command.add_argument("provider", metavar="PROVIDER", help="an upstream of crypto quotes, such as binance")
    command.add_argument("file", metavar="FILE", help="the file to write, which must not exist")
    command.add_argument(
        "--seconds", type=float, default=60.0, metavar="N", help="duration in seconds; 60 by default"
    )


def _add_history(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="list what is recorded of each feed")
    export = actions.add_parser("export", help="write the updates of a feed to a file")
    moment = "such as 2026-11-20T14:30:00Z, or Unix seconds"
    export.add_argument("--feed", required=True, choices=("stocks", "crypto", "doviz"))
    export.add_argument(
        "--from", dest="start", required=True, metavar="TIME", help=f"the first moment, {moment}"
    )
    export.add_argument(
        "--to", dest="end", required=True, metavar="TIME", help="the moment before which it ends"
    )
    export.add_argument(
        "--format", default="csv", choices=("parquet", "csv", "ndjson"), help="csv by default"
    )
    export.add_argument(
        "--output", required=True, metavar="FILE", help="the file to write, which must not exist"
    )


if __name__ == "__main__":
    sys.exit(main())
