"""Options of the commands for users, API keys, plans and operators."""

import argparse
from typing import Final

#: Days for which the service has the usage of API keys.
MAX_DAYS: Final = 400


def add_users(command: argparse.ArgumentParser) -> None:
    """Adds what an operator does with users."""
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


def add_keys(command: argparse.ArgumentParser) -> None:
    """Adds what an operator does with API keys."""
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a key, and print it once on standard output")
    for option, metavar, summary in (
        ("--user", "EMAIL", "its user; by default it is the operator's"),
        ("--expires", "TIME", "its end: days such as 90d, or a time in ISO 8601; none by default"),
        ("--feeds", "NAMES", "feeds that it may read, of stocks, crypto and doviz, with commas between"),
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


def add_plans(command: argparse.ArgumentParser) -> None:
    """Adds what an operator does with plans."""
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


def add_operators(command: argparse.ArgumentParser) -> None:
    """Adds who may sign in to `/admin`, and the log of it."""
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


def _usage_days(text: str) -> int:
    """Returns a number of days. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_DAYS):
        raise argparse.ArgumentTypeError(f"from 1 to {MAX_DAYS}")
    return int(text)
