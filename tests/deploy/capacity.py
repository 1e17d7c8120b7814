"""Computes the table of docs/capacity.md from the measurements in the page.

`python -m benchmarks.capacity` measures them; `python -m deploy.capacity`, with tests/ on the path, prints
the table.
"""

import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
#: Usable share of a core: beyond it ticks come late, and other workers cannot take a dead worker's clients.
UTILIZATION = 0.6
#: Bytes of TCP and IP per frame, acknowledgements included.
OVERHEAD_BYTES = 60
#: HTTP requests per second of each client besides its feed: a page now and then.
REQUESTS_PER_CLIENT = 1 / 30
COLUMNS = (
    "market",
    "clients",
    "workers",
    "clients on each",
    "memory of its sockets",
    "its network out",
    "its bus in",
    "network out of all",
    "bus out of Redis",
)


class Market(NamedTuple):
    """Input and output of a worker: updates per second, bytes, and microseconds of a core."""

    updates: float
    update_bytes: float
    update_us: float
    frame_bytes: float
    frame_us: float


class Measurements(NamedTuple):
    """Measurements of two markets, and those that both share."""

    calm: Market
    busy: Market
    socket_bytes: float
    #: HTTP requests per second of one core.
    requests: float


def read_measurements(guide: str, benchmarks: str) -> Measurements:
    """Returns the measurements in docs/capacity.md and docs/benchmarks.md. Raises LookupError."""
    names = (
        "updates a second on the bus",
        "bytes of an update on the bus",
        "µs of a core to take in an update",
        "bytes of a frame",
        "µs of a core to build and send a frame",
    )
    found = [_numbers(rf"^\| {name} \| ([\d,.]+) \| ([\d,.]+) \|$", guide) for name in names]
    calm, busy = zip(*found, strict=True)
    (socket_bytes,) = _numbers(r"^A socket takes ([\d,]+) bytes", guide)
    (requests,) = _numbers(r"^\| P1 \| quotecast \| [\d,]+ \| ([\d,]+) \|", benchmarks)
    return Measurements(Market(*calm), Market(*busy), socket_bytes, requests)


def _numbers(pattern: str, text: str) -> list[float]:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise LookupError(pattern)
    return [float(each.replace(",", "")) for each in found.groups()]


def rows(found: Measurements) -> Iterator[str]:
    """Yields the table in Markdown."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for name, market in (("calm", found.calm), ("busy", found.busy)):
        for clients in (10_000, 100_000, 1_000_000):
            yield _row(name, clients, market, found)


def workers_for(clients: int, market: Market, found: Measurements) -> int:
    """Returns the number of workers: each takes in the whole market; the rest is for clients."""
    taking_in = market.updates * market.update_us / 1e6
    clients_us = market.frame_us + REQUESTS_PER_CLIENT * 1e6 / found.requests
    return math.ceil(clients * clients_us / 1e6 / (UTILIZATION - taking_in))


def _row(name: str, clients: int, market: Market, found: Measurements) -> str:
    workers = workers_for(clients, market, found)
    on_each = math.ceil(clients / workers)
    frame = market.frame_bytes + OVERHEAD_BYTES
    taken_in = market.updates * market.update_bytes
    cells = (
        name,
        f"{clients:,}",
        f"{workers}",
        f"{on_each:,}",
        f"{on_each * found.socket_bytes / 1e6:,.0f} MB",
        f"{on_each * frame / 1e6:,.1f} MB/s",
        f"{taken_in / 1e6:,.2f} MB/s",
        f"{clients * frame * 8 / 1e9:,.2f} Gbit/s",
        f"{workers * taken_in / 1e6:,.1f} MB/s",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    texts = [(ROOT / name).read_text("utf-8") for name in ("docs/capacity.md", "docs/benchmarks.md")]
    sys.stdout.write("\n".join(rows(read_measurements(*texts))) + "\n")
