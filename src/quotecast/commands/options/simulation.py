"""Options of `quotecast simulate`."""

import argparse
from typing import Final

from quotecast.commands.options.actions import Command, add_json


def add_simulate(command: argparse.ArgumentParser) -> None:
    """Adds the vendor, its market and the control route."""
    command.add_argument(
        "vendor",
        nargs="?",
        choices=("alpaca", "binance", "coinbase", "kraken", "finnhub"),
        help="the vendor to simulate",
    )
    _add_values(command)
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
    add_json(command, "--list-scenarios: a JSON object per line")


def _add_values(command: argparse.ArgumentParser) -> None:
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


COMMANDS: Final = (Command("simulate", "serve a vendor's market with invented prices", add_simulate),)
