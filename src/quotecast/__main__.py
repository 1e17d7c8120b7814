"""The command line: `quotecast COMMAND`; `_COMMANDS` has them all."""

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
    "doctor": (
        "quotecast.commands.doctor:run",
        "check whether `up` would work here, and with which settings",
    ),
}

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


#: Days for which the service has the usage of API keys.
MAX_DAYS: Final = 400
#: An edge has the feeds of its origin, and needs neither PostgreSQL nor Redis.
_WITHOUT_SERVERS: Final = {"quotecast.api.edge_worker:run"}


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
    settings = loading.load(needs_servers=arguments.entry not in _WITHOUT_SERVERS)
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
    commands.choices["edge"].add_argument(
        "origin",
        nargs="?",
        metavar="ORIGIN",
        help="address of the installation, such as wss://quotes.example.com; by default QUOTECAST_ORIGIN",
    )
    _add_actions(commands.choices["users"])
    _add_keys(commands.choices["keys"])
    _add_plans(commands.choices["plans"])
    _add_operators(commands.choices["operators"])
    _add_recording(commands.choices["record"])
    _add_history(commands.choices["history"])
    _add_watching(commands.choices["watch"])
    _add_audit(commands.choices["audit"])
    _add_mcp(commands.choices["mcp"])
    _add_simulation(commands.choices["simulate"])
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
    commands["up"].add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="NAME[@START][,KEY=VALUE]",
        help="an event of the simulated market, such as halt@+60,symbols=AAPL, or a TOML file; repeatable",
    )
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
        ("delete", "delete a user, with everything stored for the user"),
    ):
        action = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == "list":
            action.add_argument("--json", action="store_true", help="a JSON object per line")
        else:
            action.add_argument("email", metavar="EMAIL")
        if name == "delete":
            action.add_argument("--yes", action="store_true", help="do not ask")


def _add_keys(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a key, and print it once on standard output")
    for option, metavar, summary in (
        ("--user", "EMAIL", "its user; by default it is the operator's"),
        ("--expires", "TIME", "its end: days such as 90d, or a time in ISO 8601; none by default"),
        ("--feeds", "NAMES", "feeds that it may read, of market, crypto and doviz, with commas between"),
        ("--symbols", "NAMES", "symbols, and groups such as sector:Energy, with commas between"),
        ("--origins", "ORIGINS", "web origins whose pages may use it, with commas between"),
        ("--addresses", "NETWORKS", "addresses and networks of its clients, with commas between"),
    ):
        create.add_argument(option, metavar=metavar, help=summary)
    create.add_argument("--name", required=True, metavar="NAME", help="by which people recognise it")
    create.add_argument("--plan", default="user", metavar="PLAN", help="its plan; that of users by default")
    listing = actions.add_parser("list", help="list all keys")
    listing.add_argument("--json", action="store_true", help="a JSON object per line")
    usage = actions.add_parser("usage", help="show what keys used, by key and day")
    usage.add_argument("--key", metavar="ID", help="only this key")
    usage.add_argument(
        "--days", type=_usage_days, default=30, metavar="N", help="the last N days in UTC; 30 by default"
    )
    usage.add_argument("--csv", action="store_true", help="a table for spreadsheets (RFC 4180)")
    plan = actions.add_parser("plan", help="give a key another plan")
    revoke = actions.add_parser("revoke", help="revoke a key")
    for action in (plan, revoke):
        action.add_argument("id", metavar="ID", help="its id, or the beginning of the key that lists show")
    plan.add_argument("plan", metavar="NAME", help="the plan; `user` is that of users")


def _usage_days(text: str) -> int:
    """Returns a number of days. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_DAYS):
        raise argparse.ArgumentTypeError(f"from 1 to {MAX_DAYS}")
    return int(text)


def _add_plans(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (
        ("list", "list all plans, and where each is"),
        ("show", "print a plan as TOML"),
        ("set", "store a plan in the database, in place of one of that name"),
        ("delete", "delete a stored plan; its keys then get no data"),
        ("check", "check a file for QUOTECAST_PLANS"),
    ):
        action = actions.add_parser(name, help=summary)
        if name in {"show", "set", "delete"}:
            action.add_argument("name", metavar="NAME")
        if name in {"set", "check"}:
            action.add_argument("file", metavar="FILE", help="TOML" if name == "check" else "TOML; -: input")


def _add_operators(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="let a user sign in to the page /admin")
    add.add_argument("email", metavar="EMAIL")
    add.add_argument(
        "--totp", action="store_true", help="ask for codes of an app too; prints a new secret for it, once"
    )
    actions.add_parser("list", help="list all operators")
    remove = actions.add_parser("remove", help="take the role from a user, and end their sessions of it")
    remove.add_argument("email", metavar="EMAIL")
    log = actions.add_parser("log", help="print what operators did, the newest first")
    log.add_argument("--csv", action="store_true", help="a table for spreadsheets (RFC 4180)")


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


def _add_mcp(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--url",
        metavar="URL",
        help="address of the running service; by default QUOTECAST_PORT of this machine",
    )
    command.add_argument(
        "--token-file", metavar="FILE", help="file with your own token, for tools that read your account"
    )


def _add_watching(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "symbols", nargs="+", metavar="SYMBOL", help="such as AAPL, BTC/USDT, gram-altin or sector:Energy"
    )
    command.add_argument(
        "--url",
        metavar="ADDRESS",
        help="the service, such as https://quotes.example.com; by default the local one",
    )
    command.add_argument(
        "--interval",
        type=int,
        default=250,
        choices=(100, 250, 500, 1000, 5000),
        metavar="MS",
        help="milliseconds between two changes of a symbol: 100, 250 (the default), 500, 1000 or 5000",
    )
    command.add_argument("--once", action="store_true", help="show the quotes once, and end")


def _add_audit(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "url", nargs="?", metavar="URL", help="such as ws://127.0.0.1:8000/api/ws/market?symbols=all"
    )
    command.add_argument("--vendor", metavar="NAME", help="an upstream instead of a feed, such as binance")
    command.add_argument("--rest", metavar="URL", help="the service's HTTP, if it has another address")
    command.add_argument("--json", action="store_true", help="the report as JSON")
    for option, kind, default, summary in (
        ("--seconds", float, 60.0, "duration; 60 by default"),
        ("--check-every", float, 20.0, "seconds between two comparisons with REST; 20 by default"),
        ("--max-age-p99", float, None, "milliseconds of the 99th percentile of ages; 5000 by default"),
        ("--max-silence", float, None, "seconds without a frame; 30 by default"),
        ("--max-gaps", int, None, "gaps, changes of the epoch, resyncs and reconnects; 0 by default"),
        ("--max-backwards", int, None, "steps back of a timestamp or a cursor; 0 by default"),
        ("--max-disagreements", int, None, "other prices in REST for the same time; 0 by default"),
    ):
        command.add_argument(option, type=kind, default=default, metavar="N", help=summary)


def _add_simulation(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "vendor",
        nargs="?",
        choices=("alpaca", "binance", "coinbase", "kraken", "finnhub"),
        help="the vendor to simulate",
    )
    _add_simulation_options(command)
    command.add_argument(
        "--hours",
        default="always",
        choices=("always", "exchange"),
        help="whether the stock exchange never closes or keeps the New York calendar; always by default",
    )
    command.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="NAME[@START][,KEY=VALUE...]",
        help="an event, at once, at +SECONDS, HH:MM (UTC) or an ISO time; or a TOML file; may be repeated",
    )
    command.add_argument(
        "--free-plan", action="store_true", help="Alpaca, Finnhub: the rules of the free plan"
    )
    command.add_argument("--list-scenarios", action="store_true", help="print all scenarios, and end")


def _add_simulation_options(command: argparse.ArgumentParser) -> None:
    for option, kind, default, metavar, summary in (
        ("--host", str, "127.0.0.1", "ADDRESS", "the address to listen on; 127.0.0.1 by default"),
        ("--port", int, 0, "N", "the local port; any free one by default"),
        ("--seed", int, 1, "N", "the same seed gives the same market; 1 by default"),
        ("--speed", float, 1.0, "X", "market seconds per real second; 1 by default"),
        ("--rate", float, 50.0, "N", "prices per second; 50 by default"),
        (
            "--start",
            str,
            None,
            "TIME",
            "the market's time at the start, such as 2026-11-20T14:25:00Z; now by default",
        ),
        ("--key", str, None, "KEY", "the only API key that is accepted; any by default"),
        ("--secret", str, None, "SECRET", "the secret of the key"),
        (
            "--control-port",
            int,
            None,
            "N",
            "serve the control route here, 0 for any free port; off by default",
        ),
        (
            "--control-host",
            str,
            "127.0.0.1",
            "ADDRESS",
            "the address of the control route; 127.0.0.1 by default",
        ),
        (
            "--control-token-file",
            str,
            None,
            "FILE",
            "file with the control route's token; a new one by default",
        ),
    ):
        command.add_argument(option, type=kind, default=default, metavar=metavar, help=summary)


if __name__ == "__main__":
    sys.exit(main())
