"""Watches quotes: as a live table in a terminal, else as lines."""

import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from quotecast.commands.watching.board import BoardRow, PriceBoard
from quotecast.commands.watching.names import complaint, look_up
from quotecast.commands.watching.table import FLASH_SECONDS, UNKNOWN, View, number, percent, table
from quotecast.local.console import json_lines
from quotecast.market.feeds import Feed as ServiceFeed
from quotecast_client import Client, ConnectionFailed, Feed, QuotecastError, State, Stream

_STATUS_SECONDS: Final = 15.0


class Following:
    """Moves a board by a stream; `changed` is set at each change, and at the end."""

    def __init__(self, client: Client, stream: Stream, board: PriceBoard) -> None:
        self.stream = stream
        self.board = board
        self.changed = threading.Event()
        #: The last answer on the service's state.
        self.status: Mapping[str, Any] | None = None
        #: Monotonic time of the last change.
        self.heard_at = time.monotonic()
        self._client = client
        self._error: Exception | None = None
        self._ended = threading.Event()
        # Daemons: a connection that is being made must not delay the end of the command.
        for run in (self._follow, self._ask):
            threading.Thread(target=run, daemon=True).start()

    def check(self) -> None:
        """Raises the error that ended the stream."""
        if self._error is not None:
            raise self._error

    def end(self) -> None:
        """Ends both threads."""
        self._ended.set()
        self.stream.close()

    def _follow(self) -> None:
        try:
            for change in self.stream:
                self.heard_at = time.monotonic()
                if self.board.take(change, self.heard_at):
                    self.changed.set()
        except Exception as error:  # noqa: BLE001 - raised again by `check`
            self._error = error
        self.changed.set()

    def _ask(self) -> None:
        while not self._ended.is_set():
            try:
                self.status = {**self._client.status()}
            except QuotecastError:
                self.status = None
            self._ended.wait(_STATUS_SECONDS)


_COLOURS: Final[dict[str, str]] = {"live": "green", "stale": "yellow", "connecting": "yellow"}
#: Names of feeds in the service's state.
_STATUS_NAMES: Final[Mapping[str, str]] = {feed.spec.name: feed.value for feed in ServiceFeed}
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
    board = PriceBoard(found)
    console = Console(highlight=False)
    write = _write_json if as_json else _write
    if once and (as_json or not console.is_terminal):
        write(board.rows)
    elif once:
        status = client.status()
        states = {row.feed: status["feeds"][_STATUS_NAMES[row.feed]]["state"] for row in board.rows}
        view = View(console.width, len(board.rows) + 10, time.monotonic(), datetime.now(UTC).astimezone())
        console.print(table(board.rows, view, state_line(states, status, address, 0.0)))
    elif console.is_terminal and not console.is_dumb_terminal and not as_json:
        _show_live(console, Following(client, client.stream(symbols, interval=interval), board), address)
    else:
        stream = client.stream(symbols, interval=interval)
        write(board.rows)
        for change in stream:
            if board.take(change, 0.0) and not change.removed:
                write([BoardRow(change.feed, change.symbol, {**change.quote})])
    return 0


def _show_live(console: Console, following: Following, address: str) -> None:
    try:
        with Live(console=console, auto_refresh=False) as live:
            while True:
                following.check()
                following.changed.clear()
                now = time.monotonic()
                view = View(console.width, console.height, now, datetime.now(UTC).astimezone())
                states = following.stream.states
                state = state_line(states, following.status, address, now - following.heard_at)
                live.update(table(following.board.rows, view, state), refresh=True)
                is_flashing = any(
                    time.monotonic() - row.moved_at < FLASH_SECONDS for row in following.board.rows
                )
                time.sleep(_LEAST_SECONDS)
                following.changed.wait(FLASH_SECONDS / 2 if is_flashing else _IDLE_SECONDS)
    finally:
        following.end()


def _write(rows: Iterable[BoardRow]) -> None:
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


def _write_json(rows: Iterable[BoardRow]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in json_lines(row.quote for row in rows))
    sys.stdout.flush()


def _fail(text: str) -> int:
    sys.stderr.write(f"quotecast: {text}\n")
    return 1


def state_line(
    states: Mapping[Feed, State], status: Mapping[str, Any] | None, address: str, silent: float
) -> Text:
    """Returns the state of the feeds, of the exchange, and of the connection.

    `status` is the service's answer, None before the first one; `silent` are the seconds without a frame.
    """
    if all(state == "connecting" for state in states.values()):
        parts = [Text(f"connecting to {address}, last prices {silent:.0f} s ago", "bold yellow")]
    else:
        parts = [Text(address, "dim")]
    for feed, state in states.items():
        label = f"{feed} {state}"
        if feed == "market" and status is not None:
            label += ", open" if status["marketOpen"] else ", closed"
        parts.append(Text(label, _COLOURS.get(state, "red")))
    if status is not None:
        parts.append(Text(_origin([*states], status), "dim"))
    return Text("  ").join(parts)


def _origin(feeds: Sequence[Feed], status: Mapping[str, Any]) -> str:
    """Returns whether the prices are real; names the feeds if only some are simulated."""
    known = status["feeds"]
    simulated = [feed for feed in feeds if known.get(_STATUS_NAMES[feed], {}).get("simulated")]
    if not simulated:
        return "real data"
    return "simulated data" if len(simulated) == len(feeds) else f"simulated: {', '.join(simulated)}"
