"""Watches quotes: as a live table in a terminal, else as lines."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from rich.console import Console, RenderableType
from rich.live import Live

from quotecast.commands.json_lines import json_lines
from quotecast.commands.watching.board import Board, Row
from quotecast.commands.watching.figures import UNKNOWN, number, percent
from quotecast.commands.watching.following import Following
from quotecast.commands.watching.names import complaint, look_up
from quotecast.commands.watching.state import state_line
from quotecast.commands.watching.table import FLASH_SECONDS, View, table
from quotecast_client import Client, ConnectionFailed, QuotecastError, Stream

#: Seconds between two redraws when nothing changes: the age of the last prices grows.
_IDLE_SECONDS = 1.0
#: Seconds between two redraws under load.
_LEAST_SECONDS = 0.1


def watch(
    symbols: Sequence[str], address: str, feeds: str | None, *, interval: int, once: bool, as_json: bool
) -> int:
    """Shows quotes until Ctrl-C, or once; returns the exit code."""
    try:
        # One retry is enough: the user waits for the table, and an error says what is wrong.
        with Client(address, feeds=feeds, retries=1) as client:
            return _show(client, symbols, address, interval, once=once, as_json=as_json)
    except BrokenPipeError:
        # Python would write the rest at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ConnectionFailed:
        return _fail(
            f"No quotecast answers at {address}: name another with --url, or start one: quotecast up"
        )
    except QuotecastError as error:
        return _fail(f"{address} refuses: {error}")


def _show(
    client: Client, symbols: Sequence[str], address: str, interval: int, *, once: bool, as_json: bool
) -> int:
    found, unknown = look_up(client, symbols)
    if unknown:
        return _fail(complaint(client, unknown))
    board = Board(found)
    console = Console(highlight=False)
    write = _write_json if as_json else _write
    if once and (as_json or not console.is_terminal):
        write(board.rows)
    elif once:
        _show_once(console, client, board, address)
    elif console.is_terminal and not console.is_dumb_terminal and not as_json:
        _show_live(console, Following(client, client.stream(symbols, interval=interval), board), address)
    else:
        _write_lines(board, client.stream(symbols, interval=interval), write)
    return 0


def _show_once(console: Console, client: Client, board: Board, address: str) -> None:
    status = client.status()
    names = {"market": "stocks"}
    states = {row.feed: status["feeds"][names.get(row.feed, row.feed)]["state"] for row in board.rows}
    view = View(console.width, len(board.rows) + 10, time.monotonic(), datetime.now(UTC).astimezone())
    console.print(table(board.rows, view, state_line(states, status, address, 0.0)))


def _show_live(console: Console, following: Following, address: str) -> None:
    try:
        with Live(console=console, auto_refresh=False) as live:
            while True:
                following.check()
                following.changed.clear()
                live.update(_picture(console, following, address), refresh=True)
                is_flashing = any(
                    time.monotonic() - row.moved_at < FLASH_SECONDS for row in following.board.rows
                )
                time.sleep(_LEAST_SECONDS)
                following.changed.wait(FLASH_SECONDS / 2 if is_flashing else _IDLE_SECONDS)
    finally:
        following.end()


def _picture(console: Console, following: Following, address: str) -> RenderableType:
    now = time.monotonic()
    view = View(console.width, console.height, now, datetime.now(UTC).astimezone())
    states = following.stream.states
    state = state_line(states, following.status, address, now - following.heard_at)
    return table(following.board.rows, view, state)


def _write_lines(board: Board, stream: Stream, write: Callable[[Iterable[Row]], None]) -> None:
    """Writes the present quotes, then a line for each change."""
    write(board.rows)
    for change in stream:
        if board.take(change, 0.0) and not change.removed:
            write([Row(change.feed, change.symbol, {**change.quote})])


def _write(rows: Iterable[Row]) -> None:
    for row in rows:
        quote = row.quote
        cells = (
            f"{quote.get('timestamp') or UNKNOWN:<24}",
            f"{row.symbol:<12}",
            f"{number(quote['price'], grouped=False):>12}",
            f"{number(quote.get('change'), signed=True, grouped=False):>12}",
            f"{percent(quote.get('changePercent')):>9}",
        )
        sys.stdout.write("  ".join(cells) + "\n")
    sys.stdout.flush()


def _write_json(rows: Iterable[Row]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in json_lines(row.quote for row in rows))
    sys.stdout.flush()


def _fail(text: str) -> int:
    sys.stderr.write(f"quotecast: {text}\n")
    return 1
