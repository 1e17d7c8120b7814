"""`quotecast watch` as a process on a pseudo-terminal, and the prices that it shows."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Sequence

#: Sequences that colour text, or move the cursor.
from support.runs.deadlines import scaled

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PRICE = re.compile(r"[\d,]+\.\d+")


class Watched:
    """A running `watch` of some symbols in a terminal of some size."""

    def __init__(
        self, symbols: Sequence[str], *options: str, columns: int = 120, lines: int = 30, **more: str
    ) -> None:
        self._symbols = symbols
        self._terminal, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "quotecast", "watch", *symbols, *options],
            stdin=child,
            stdout=child,
            stderr=child,
            env={**os.environ, "TERM": "xterm-256color", **more},
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - the process has no threads yet
        )
        os.close(child)
        self.raw = ""
        #: All lines in order, without controls.
        self.lines: list[str] = []
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def prices(self) -> dict[str, float]:
        """Returns the price that each symbol has now."""
        return dict(self.shown())

    def shown(self) -> list[tuple[str, float]]:
        """Returns every price that was shown, by its symbol, in order."""
        found = []
        for line in list(self.lines):
            symbol, _, rest = line.partition(" ")
            if symbol in self._symbols and (price := _PRICE.search(rest)):
                found.append((symbol, float(price[0].replace(",", ""))))
        return found

    def press(self, key: bytes) -> None:
        """Types a key."""
        os.write(self._terminal, key)

    def end(self) -> int:
        """Returns the exit code; all output has been read then."""
        code = self._process.wait(scaled(30))
        self._reading.join(scaled(30))
        os.close(self._terminal)
        return code

    def kill(self) -> None:
        """Kills the process, if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self.end()

    def _read(self) -> None:
        rest = ""
        while True:
            try:
                data = os.read(self._terminal, 65_536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            text = data.decode(errors="replace")
            self.raw += text
            *lines, rest = (rest + text).split("\n")
            self.lines += [_CONTROLS.sub("", line).strip() for line in lines]


def _take_terminal() -> None:
    """Makes the terminal that of the process, so that Ctrl-C reaches it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
