"""The command line: `quotecast COMMAND`; `_COMMANDS` has them all."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from quotecast.commands import completion
from quotecast.commands.options import feeds, people, serving, simulation
from quotecast.environment import PREFIX
from quotecast.errors import QuotecastError, SettingsError
from quotecast.settings import loading

_COMMANDS: Final = {
    command.name: command
    for command in (*serving.COMMANDS, *feeds.COMMANDS, *people.COMMANDS, *simulation.COMMANDS)
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code: 0, 1 for a failure, 2 for wrong settings."""
    parsed = parser().parse_args(arguments)
    try:
        code = _run(parsed)
        sys.stdout.flush()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except QuotecastError as error:
        sys.stderr.write(f"quotecast: {error}\n")
        return 1
    except BrokenPipeError:
        # A reader such as `head` has what it wanted; Python would fail to flush the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _run(arguments: argparse.Namespace) -> int:
    if arguments.command == "completion":
        # A shell reads it at its start, whatever the settings are.
        completion.write(parser(), arguments.shell)
        return 0
    settings = loading.load(needs_servers=_COMMANDS[arguments.command].needs_servers)
    module, function = arguments.entry.split(":")
    code: int = getattr(importlib.import_module(module), function)(settings, arguments)
    return code


def parser() -> argparse.ArgumentParser:
    """Returns the parser of all commands."""
    made = argparse.ArgumentParser(
        prog="quotecast",
        description="Live market data over HTTP and WebSocket.",
        epilog=f"Settings are environment variables named {PREFIX}*; `quotecast doctor` shows them.",
    )
    made.add_argument("--version", action="version", version=f"quotecast {version('quotecast')}")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for each in _COMMANDS.values():
        summary = each.summary
        command = commands.add_parser(
            each.name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        entry = each.entry or f"quotecast.commands.{each.name}:run"
        command.set_defaults(command=each.name, entry=entry)
        if each.add_options is not None:
            each.add_options(command)
    return made


if __name__ == "__main__":
    sys.exit(main())
