"""The command line: `quotecast COMMAND`; `_COMMANDS` has them all."""

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Final

from quotecast.commands import completion
from quotecast.commands.options import feeds, people, serving, simulation
from quotecast.environment import PREFIX
from quotecast.errors import QuotecastError, SettingsError
from quotecast.settings import loading

# Names of functions instead of imports, as in a package's entry points: a command loads only the modules
# that it runs, so that `up`, `ingest` and `doctor` do not wait for the web framework.
_COMMANDS: Final = {
    "up": ("quotecast.local.up:run", "start everything here: databases, ingest and API workers"),
    "api": ("quotecast.api.main:run", "run one API worker; several may share the port"),
    "edge": ("quotecast.api.edge_worker:run", "serve the feeds of another installation near its clients"),
    "ingest": ("quotecast.ingest.main:run", "run one ingest: upstreams to the bus"),
    "migrate": ("quotecast.commands.migrate:run", "bring the database's tables up to date"),
    "record": ("quotecast.commands.record:run", "record an upstream's messages, for the provider `replay`"),
    "history": ("quotecast.commands.history:run", "list what is recorded of the feeds, or export it"),
    "users": ("quotecast.commands.users:run", "list, disable or delete users, or reset their passwords"),
    "keys": ("quotecast.commands.keys:run", "make, list or revoke API keys, or give them plans"),
    "plans": ("quotecast.commands.plans:run", "list, show, store, delete or check the plans of API keys"),
    "operators": (
        "quotecast.commands.operators:run",
        "add, list or remove operators, or print what operators did",
    ),
    "mcp": ("quotecast.commands.mcp:run", "give language models tools: MCP on standard input and output"),
    "watch": ("quotecast.commands.watch:run", "show quotes in the terminal as they change"),
    "audit": ("quotecast.commands.audit:run", "measure a feed, or an upstream, against thresholds"),
    "simulate": ("quotecast.commands.simulate:run", "serve a vendor's market with invented prices"),
    "vapid": ("quotecast.commands.vapid:run", "print a new key for QUOTECAST_VAPID_PRIVATE_KEY"),
    "completion": ("quotecast.commands.completion:write", "print a script for completion in bash or zsh"),
    "doctor": (
        "quotecast.commands.doctor:run",
        "check whether `up` would work here, and with which settings",
    ),
}

_OPTIONS: Final[Mapping[str, Callable[[argparse.ArgumentParser], None]]] = {
    "up": serving.add_up,
    "edge": serving.add_edge,
    "migrate": serving.add_migrate,
    "record": feeds.add_record,
    "history": feeds.add_history,
    "users": people.add_users,
    "keys": people.add_keys,
    "plans": people.add_plans,
    "operators": people.add_operators,
    "mcp": feeds.add_mcp,
    "watch": feeds.add_watch,
    "audit": feeds.add_audit,
    "simulate": simulation.add_simulate,
    "doctor": serving.add_doctor,
    "completion": serving.add_completion,
}

#: Functions that take the parsed arguments beside the settings.
_WITH_ARGUMENTS: Final = {
    "quotecast.local.up:run",
    "quotecast.local.up:live",
    "quotecast.api.edge_worker:run",
    "quotecast.commands.users:run",
    "quotecast.commands.keys:run",
    "quotecast.commands.plans:run",
    "quotecast.commands.operators:run",
    "quotecast.commands.migrate:undo",
    "quotecast.commands.record:run",
    "quotecast.commands.history:run",
    "quotecast.commands.mcp:run",
    "quotecast.commands.watch:run",
    "quotecast.commands.audit:run",
    "quotecast.commands.simulate:run",
}

#: An edge has the feeds of its origin, and needs neither PostgreSQL nor Redis.
_WITHOUT_SERVERS: Final = {"quotecast.api.edge_worker:run"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code: 0, 1 for a failure, 2 for wrong settings."""
    parsed = parser().parse_args(arguments)
    try:
        return _run(parsed)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except QuotecastError as error:
        sys.stderr.write(f"quotecast: {error}\n")
        return 1


def _run(arguments: argparse.Namespace) -> int:
    if arguments.entry == _COMMANDS["completion"][0]:
        # A shell reads it at its start, whatever the settings are.
        completion.write(parser(), arguments.shell)
        return 0
    settings = loading.load(needs_servers=arguments.entry not in _WITHOUT_SERVERS)
    module, function = arguments.entry.split(":")
    command = getattr(importlib.import_module(module), function)
    code: int = command(settings, arguments) if arguments.entry in _WITH_ARGUMENTS else command(settings)
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
    for name, (entry, summary) in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        command.set_defaults(entry=entry)
    for name, add_options in _OPTIONS.items():
        add_options(commands.choices[name])
    return made


if __name__ == "__main__":
    sys.exit(main())
