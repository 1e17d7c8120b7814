"""Options of the commands that serve, of `migrate`, `doctor` and `completion`."""

import argparse
from typing import Final

from quotecast.commands.options.actions import Command, add_json
from quotecast.settings.model import MOST_WORKERS


def add_up(command: argparse.ArgumentParser) -> None:
    """Adds real upstreams, and events of the simulated market."""
    command.add_argument(
        "--live",
        dest="entry",
        action="store_const",
        const="quotecast.local.up:live",
        help="real upstreams, where they need no key or the key is set",
    )
    command.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="NAME[@START][,KEY=VALUE]",
        help="an event of the simulated market, such as halt@+60,symbols=AAPL, or a TOML file; repeatable",
    )
    command.add_argument(
        "--workers",
        type=_workers,
        metavar="N",
        help="number of API workers, by default QUOTECAST_WORKERS, else one for every four cores",
    )
    command.add_argument(
        "--no-build",
        dest="build",
        action="store_false",
        help="in a checkout, do not build the terminal page, whose sources may have changed",
    )


def _workers(text: str) -> int:
    """Returns a number of workers. Raises ArgumentTypeError."""
    if not (text.isdecimal() and 1 <= int(text) <= MOST_WORKERS):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {MOST_WORKERS}")
    return int(text)


def add_edge(command: argparse.ArgumentParser) -> None:
    """Adds the origin."""
    command.add_argument(
        "origin",
        nargs="?",
        metavar="ORIGIN",
        help="address of the installation, such as wss://quotes.example.com; by default QUOTECAST_ORIGIN",
    )


def add_migrate(command: argparse.ArgumentParser) -> None:
    """Adds `--undo`, which names the tables and columns that it deletes."""
    command.add_argument(
        "--undo",
        dest="entry",
        action="store_const",
        const="quotecast.commands.migrate:undo",
        help="undo the newest migration, and delete the data in its tables",
    )
    command.add_argument(
        "--losing", metavar="NAMES", help="tables and columns that `--undo` deletes; required in production"
    )


def add_doctor(command: argparse.ArgumentParser) -> None:
    """Adds the form of the results."""
    add_json(command, "a JSON object per line: `status` (about, set, ok, note, fails), `name`, `text`")


def add_completion(command: argparse.ArgumentParser) -> None:
    """Adds the shell."""
    command.add_argument("shell", choices=("bash", "zsh"), help="the shell that reads the script")


COMMANDS: Final = (
    Command(
        "up", "start everything here: databases, ingest and API workers", add_up, "quotecast.local.up:run"
    ),
    Command("api", "run one API worker; several may share the port", entry="quotecast.api.main:run"),
    Command(
        "edge",
        "serve the feeds of another installation near its clients",
        add_edge,
        "quotecast.api.edge.main:run",
        # An edge has the feeds of its origin.
        needs_servers=False,
    ),
    Command("ingest", "run one ingest: upstreams to the bus", entry="quotecast.ingest.main:run"),
    Command("migrate", "bring the database's tables up to date", add_migrate),
    Command("vapid", "print a new key for QUOTECAST_VAPID_PRIVATE_KEY"),
    Command("completion", "print a script for completion in bash or zsh", add_completion),
    Command("doctor", "check whether `up` would work here, and with which settings", add_doctor),
)
