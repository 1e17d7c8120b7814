"""Prices that a program prints, line by line: `["AAPL", 189.84]`."""

import json
import subprocess
import threading


class PrintedPrices:
    """The prices of a running program."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.newest: dict[str, float] = {}
        self.every: list[tuple[str, float]] = []
        self._process = process
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._process.kill()
        self._thread.join()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            symbol, price = json.loads(line)
            self.newest[symbol] = price
            self.every.append((symbol, price))
