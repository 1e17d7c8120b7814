"""What the options of several commands share."""

import argparse
from typing import Any, Final

#: What `--json` does where a command prints rows.
ROWS: Final = "a JSON object per line"


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
