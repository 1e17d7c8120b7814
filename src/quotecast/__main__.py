"""The command line: `quotecast up | api | ingest | migrate | record | users | doctor`."""

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Final

from quotecast.environment import PREFIX
from quotecast.errors import QuotecastError, SettingsError
from quotecast.settings import loading

# Functions are named, not imported, as in an entry point of a package: a command loads what it runs and
# nothing else, so that `up`, `ingest` and `doctor` never wait for the web framework.
_COMMANDS: Final = {
    "up": ("quotecast.local.up:run", "start everything here: databases, ingest and API workers"),
    "api": ("quotecast.api.main:run", "run one API worker; several may share the port"),
    "ingest": ("quotecast.ingest.main:run", "run one ingest: upstreams to the bus"),
    "migrate": ("quotecast.commands.migrate:run", "bring the database's tables up to date"),
    "record": ("quotecast.commands.record:run", "write what an upstream sends, to be played by `replay`"),
    "users": ("quotecast.commands.users:run", "list, disable or delete users, or reset their passwords"),
    "doctor": ("quotecast.commands.doctor:run", "say what `up` would do and whether it would work"),
}

_WITH_ARGUMENTS: Final = {
    "quotecast.commands.users:run",
    "quotecast.commands.migrate:undo",
    "quotecast.commands.record:run",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; answers the exit code: 0, 1 for a failure, 2 for settings that cannot work."""
    given = _parser().parse_args(arguments)
    try:
        return _run(given)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except QuotecastError as error:
        sys.stderr.write(f"quotecast: {error}\n")
        return 1


def _run(given: argparse.Namespace) -> int:
    values = loading.load()
    module, function = given.entry.split(":")
    command = getattr(importlib.import_module(module), function)
    code: int = command(values, given) if given.entry in _WITH_ARGUMENTS else command(values)
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
    return parser


def _add_variants(commands: Mapping[str, argparse.ArgumentParser]) -> None:
    for name, option, entry, summary in (
        (
            "migrate",
            "--undo",
            "quotecast.commands.migrate:undo",
            "take the newest migration back, with the data in its tables",
        ),
        (
            "up",
            "--live",
            "quotecast.local.up:live",
            "real upstreams, wherever they need no key or theirs is set",
        ),
    ):
        commands[name].add_argument(option, dest="entry", action="store_const", const=entry, help=summary)
    commands["migrate"].add_argument(
        "--losing", metavar="NAMES", help="what `--undo` deletes; in production it has to be named"
    )


def _add_actions(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (
        ("list", "everybody who is registered"),
        ("disable", "keep somebody out, and end their sessions"),
        ("enable", "let somebody in again"),
        (
            "password",
            "give somebody a new password, read from the input, and end their sessions",
        ),
        ("revoke", "end somebody's sessions"),
        ("delete", "remove somebody, with all that is theirs"),
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
    command.add_argument("file", metavar="FILE", help="where to write; must not be there yet")
    command.add_argument(
        "--seconds", type=float, default=60.0, metavar="N", help="for how long; a minute by default"
    )


if __name__ == "__main__":
    sys.exit(main())
