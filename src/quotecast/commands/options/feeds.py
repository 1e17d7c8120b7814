"""Options of the commands that read feeds, or what was recorded of them."""

import argparse
from typing import Final

from quotecast.commands.options.actions import Command, add_action, add_json
from quotecast.market.feeds import Feed, feed_named


def add_record(command: argparse.ArgumentParser) -> None:
    """Adds the upstream, the file and the duration."""
    command.add_argument("provider", metavar="PROVIDER", help="an upstream of crypto quotes, such as binance")
    command.add_argument("file", metavar="FILE", help="the file to write, which must not exist")
    command.add_argument(
        "--seconds", type=float, default=60.0, metavar="N", help="duration in seconds; 60 by default"
    )


def add_history(command: argparse.ArgumentParser) -> None:
    """Adds a list of what is recorded, and its export."""
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_json(add_action(actions, "list", "list what is recorded of each feed"))
    export = add_action(actions, "export", "write the updates of a feed to a file")
    moment = "such as 2026-11-20T14:30:00Z, or Unix seconds"
    feeds = [feed.value for feed in Feed]
    export.add_argument("--feed", type=_feed, required=True, choices=feeds, help="the feed")
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


def _feed(text: str) -> str:
    """Returns the name of a feed that the choices have: paths say `market`, lists of instruments `stock`."""
    found = feed_named(text)
    return found.value if found else text


def add_watch(command: argparse.ArgumentParser) -> None:
    """Adds the symbols, the service and the pace."""
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
    add_json(command, "each quote as a JSON object on a line, and again when it changes")


def add_audit(command: argparse.ArgumentParser) -> None:
    """Adds the feed or upstream, and a threshold for each figure of the report."""
    command.add_argument(
        "url", nargs="?", metavar="URL", help="such as ws://127.0.0.1:8000/api/ws/market?symbols=all"
    )
    command.add_argument("--vendor", metavar="NAME", help="an upstream instead of a feed, such as binance")
    command.add_argument("--rest", metavar="URL", help="the service's HTTP, if it has another address")
    add_json(command, "the report as JSON")
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


def add_mcp(command: argparse.ArgumentParser) -> None:
    """Adds the service and the user's token."""
    command.add_argument(
        "--url",
        metavar="URL",
        help="address of the running service; by default QUOTECAST_PORT of this machine",
    )
    command.add_argument(
        "--token-file", metavar="FILE", help="file with your own token, for tools that read your account"
    )


COMMANDS: Final = (
    Command("record", "record an upstream's messages, for the provider `replay`", add_record),
    Command("history", "list what is recorded of the feeds, or export it", add_history),
    Command("mcp", "give language models tools: MCP on standard input and output", add_mcp),
    Command("watch", "show quotes in the terminal as they change", add_watch),
    Command("audit", "measure a feed, or an upstream, against thresholds", add_audit),
)
