"""The declaration of a command, and options that several commands share."""

import argparse
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

#: What `--json` does where a command prints rows.
ROWS: Final = "a JSON object per line"


class Command(Struct, frozen=True):
    """A command of `quotecast`.

    `entry` names its function of settings and arguments, as a package's entry points do; by default it is
    `run` of the module with the command's name. A command loads only the modules that it runs, so that `up`,
    `ingest` and `doctor` do not wait for the web framework.
    """

    name: str
    summary: str
    add_options: Callable[[argparse.ArgumentParser], None] | None = None
    entry: str = ""
    #: Whether it may need PostgreSQL and Redis, whose settings are then checked.
    needs_servers: bool = True


def add_action(actions: Any, name: str, summary: str) -> argparse.ArgumentParser:
    """Adds an action of a command; the help of both has the summary."""
    made: argparse.ArgumentParser = actions.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
    )
    return made


def add_json(command: argparse.ArgumentParser, summary: str = ROWS) -> None:
    """Adds `--json`."""
    command.add_argument("--json", action="store_true", help=summary)


def add_forms(command: argparse.ArgumentParser) -> None:
    """Adds `--csv` and `--json`, of which one may be given."""
    forms = command.add_mutually_exclusive_group()
    forms.add_argument("--csv", action="store_true", help="a table for spreadsheets (RFC 4180)")
    forms.add_argument("--json", action="store_true", help=ROWS)
