"""The command line: `quotecast up | api | ingest | migrate | doctor`."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from quotecast import settings
from quotecast.errors import QuotecastError, SettingsError

# Functions are named, not imported, as in an entry point of a package: a command loads what it runs and
# nothing else, so that `up`, `ingest` and `doctor` never wait for the web framework.
_COMMANDS: Final = {
    "up": ("quotecast.local.up:run", "start everything here: databases, ingest and API workers"),
    "api": ("quotecast.api.main:run", "run one API worker; several may share the port"),
    "ingest": ("quotecast.ingest.main:run", "run one ingest: upstreams to the bus"),
    "migrate": ("quotecast.local.migrate:run", "bring the database's tables up to date"),
    "doctor": ("quotecast.local.doctor:run", "say what `up` would do and whether it would work"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; answers the exit code: 0, 1 for a failure, 2 for settings that cannot work."""
    entry = _parser().parse_args(arguments).entry
    try:
        return _run(entry)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except QuotecastError as error:
        sys.stderr.write(f"quotecast: {error}\n")
        return 1


def _run(entry: str) -> int:
    values = settings.load()
    module, function = entry.split(":")
    code: int = getattr(importlib.import_module(module), function)(values)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="quotecast",
        description="Live market data over HTTP and WebSocket.",
        epilog=f"Settings are environment variables named {settings.PREFIX}*; `quotecast doctor` shows them.",
    )
    parser.add_argument("--version", action="version", version=f"quotecast {version('quotecast')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (entry, summary) in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        command.set_defaults(entry=entry)
    commands.choices["migrate"].add_argument(
        "--undo",
        dest="entry",
        action="store_const",
        const="quotecast.local.migrate:undo",
        help="take the newest migration back, with the data in its tables",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
