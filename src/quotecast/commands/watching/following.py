"""A stream of quotes in a thread, and the service's state in another."""

import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from quotecast.commands.watching.board import Board
from quotecast_client import Client, QuotecastError, Stream

_STATUS_SECONDS: Final = 15.0


class Following:
    """Moves a board by a stream; `changed` is set at each change, and at the end."""

    def __init__(self, client: Client, stream: Stream, board: Board) -> None:
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
