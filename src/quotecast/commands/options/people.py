"""Options of the commands for users, API keys, plans and operators."""

import argparse
from typing import Final

from quotecast.commands.options.actions import Command, add_action, add_forms, add_json

#: Days for which the service has the usage of API keys.
MAX_DAYS: Final = 400


def add_users(command: argparse.ArgumentParser) -> None:
    """Adds what an operator does with users."""
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (
        ("list", "list all registered users"),
        ("disable", "disable a user, and end their sessions"),
        ("enable", "enable a disabled user"),
        ("password", "set a user's password, read from the input, and end their sessions"),
        ("revoke", "end a user's sessions"),
        ("delete", "delete a user, with everything stored for the user"),
    ):
        action = add_action(actions, name, summary)
        if name == "list":
            add_json(action)
        else:
            action.add_argument("email", metavar="EMAIL", help="email of the user")
        if name == "delete":
            action.add_argument("--yes", action="store_true", help="skip the confirmation")


def add_keys(command: argparse.ArgumentParser) -> None:
    """Adds what an operator does with API keys."""
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = add_action(actions, "create", "make a key, and print it once on standard output")
    for option, metavar, summary in (
        ("--user", "EMAIL", "its user; without one the operator's"),
        ("--expires", "TIME", "its end: days such as 90d, or a time in ISO 8601; none by default"),
        ("--feeds", "NAMES", "feeds that it may read, of stocks, crypto and doviz, with commas between"),
        ("--symbols", "NAMES", "symbols, and groups such as sector:Energy, with commas between"),
        ("--origins", "ORIGINS", "web origins whose pages may use it, with commas between"),
        ("--addresses", "NETWORKS", "addresses and networks of its clients, with commas between"),
    ):
        create.add_argument(option, metavar=metavar, help=summary)
    create.add_argument("--name", required=True, metavar="NAME", help="name shown in lists")
    create.add_argument("--plan", default="user", metavar="PLAN", help="its plan; `user` by default")
    add_json(add_action(actions, "list", "list all keys"))
    usage = add_action(actions, "usage", "show what keys used, by key and day")
    usage.add_argument("--key", metavar="ID", help="only this key")
    usage.add_argument(
        "--days", type=_usage_days, default=30, metavar="N", help="the last N days in UTC; 30 by default"
    )
    add_forms(usage)
    plan = add_action(actions, "plan", "give a key another plan")
    revoke = add_action(actions, "revoke", "revoke a key")
    for action in (plan, revoke):
        action.add_argument("id", metavar="ID", help="its id, or the beginning of the key that lists show")
    plan.add_argument("plan", metavar="NAME", help="the new plan, such as `user`")


def add_plans(command: argparse.ArgumentParser) -> None:
    """Adds what an operator does with plans."""
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (
        ("list", "list all plans, and where each is"),
        ("show", "print a plan, as TOML by default"),
        ("set", "store a plan in the database, in place of one of that name"),
        ("delete", "delete a stored plan; its keys then get no data"),
        ("check", "check a file for QUOTECAST_PLANS"),
    ):
        action = add_action(actions, name, summary)
        if name in {"list", "show"}:
            add_json(action)
        if name in {"show", "set", "delete"}:
            action.add_argument("name", metavar="NAME", help="the plan")
        if name in {"set", "check"}:
            action.add_argument("file", metavar="FILE", help="TOML" if name == "check" else "TOML; -: input")


def add_operators(command: argparse.ArgumentParser) -> None:
    """Adds who may sign in to `/admin`, and the log of it."""
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = add_action(actions, "add", "let a user sign in to the page /admin")
    remove = add_action(actions, "remove", "take the role from a user, and end their sessions of it")
    for action in (add, remove):
        action.add_argument("email", metavar="EMAIL", help="email of the user")
    add.add_argument(
        "--totp", action="store_true", help="ask for codes of an app too; prints a new secret for it, once"
    )
    add_json(add_action(actions, "list", "list all operators"))
    add_forms(add_action(actions, "log", "print what operators did, the newest first"))


def _usage_days(text: str) -> int:
    """Returns a number of days. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_DAYS):
        raise argparse.ArgumentTypeError(f"must be from 1 to {MAX_DAYS}")
    return int(text)


COMMANDS: Final = (
    Command("users", "list, disable or delete users, or reset their passwords", add_users),
    Command("keys", "make, list or revoke API keys, or give them plans", add_keys),
    Command("plans", "list, show, store, delete or check the plans of API keys", add_plans),
    Command("operators", "add, list or remove operators, or print what operators did", add_operators),
)
