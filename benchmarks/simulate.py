"""`python -m benchmarks.simulate [--quick] [--seconds S] [--rounds N]`: messages from a simulated vendor.

One client of one `quotecast simulate binance` follows trades, aggregate trades and the best bid and ask of
all pairs in USDT; the server sends as many as it can on its core. Prints a line for each round.
"""

import argparse
import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Final

from benchmarks.contenders import folder
from benchmarks.load import ListenerResult, listen
from benchmarks.processes import SERVER_CORE, running, wait_until
from quotecast.market.reference import pairs

#: Messages per second from one process to one client.
GOAL: Final = 50_000
#: Prices per second, more than a core can send.
RATE: Final = 100_000
#: Streams of each pair that have a message for each price.
KINDS: Final = ("trade", "aggTrade", "bookTicker")
#: Every scenario that looks at single messages, for the cost of scenarios.
SCENARIOS: Final = ("bad-tick", "duplicate", "out-of-order,symbols=BTC/USDT")


def path() -> str:
    """Returns the path of the streams."""
    symbols = [pair.ticker.replace("/", "").lower() for pair in pairs() if pair.quote == "USDT"]
    return "/stream?streams=" + "/".join(f"{symbol}@{kind}" for symbol in symbols for kind in KINDS)


@contextlib.contextmanager
def simulated(*arguments: str) -> Iterator[tuple[int, int]]:
    """Runs a simulated Binance on a core of its own; gives its port and process."""
    command = [sys.executable, "-m", "quotecast", "simulate", "binance", "--rate", str(RATE), *arguments]
    with folder() as place:
        log = place / "simulate.log"
        with running(command, core=SERVER_CORE, log=log) as process:
            wait_until(lambda: b"ws://" in log.read_bytes(), process, "the simulated vendor")
            found = re.search(rb"ws://127\.0\.0\.1:(\d+)", log.read_bytes())
            assert found
            yield int(found[1]), process.pid


def measure(seconds: float, *arguments: str) -> ListenerResult:
    """Returns what one client receives."""
    with simulated(*arguments) as (port, pid):
        return listen(port, [path()], 1, [pid], seconds=seconds)


def main() -> None:
    """Measures, and prints the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulate")
    parser.add_argument("--quick", action="store_true", help="one round of two seconds")
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=0)
    options = parser.parse_args()
    seconds = options.seconds or (2.0 if options.quick else 10.0)
    planned = [part for each in SCENARIOS for part in ("--scenario", each)]
    for _ in range(options.rounds or (1 if options.quick else 3)):
        for name, arguments in (("no scenario", []), ("three scenarios", planned)):
            sys.stdout.write(f"{name}: {_line(measure(seconds, *arguments))}\n")
            sys.stdout.flush()


def _line(result: ListenerResult) -> str:
    rate = result.frames / result.seconds
    share = result.server_cpu_seconds / result.seconds
    return (
        f"{rate:,.0f} messages/s (goal {GOAL:,}) of {result.wire_bytes / result.frames:.0f} bytes with "
        f"{share:.0%} of a core: {rate / share:,.0f} per CPU s"
    )


if __name__ == "__main__":
    main()
