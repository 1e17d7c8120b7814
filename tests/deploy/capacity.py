"""The table of docs/capacity.md, computed from what the benchmarks measured.

`python -m deploy.capacity`, with tests/ on the path, prints it.
"""

import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
#: Share of a core that is used: beyond it ticks come late and a worker's clients do not fit on the others.
UTILIZATION = 0.6
#: Bytes of a frame with one quote that moved, and what WebSocket, TCP and IP put around it.
FRAME_BYTES = 200
OVERHEAD_BYTES = 60
#: What a feed's socket costs.
SOCKET_BYTES = 14_000
#: What each client asks of HTTP besides its feed: a page now and then.
REQUESTS_PER_CLIENT = 1 / 30


class Measured(NamedTuple):
    """Medians, per second of one core."""

    requests: float
    frames: float


def measured() -> Measured:
    """What benchmarks/README.md says of this service."""
    text = (ROOT / "benchmarks" / "README.md").read_text("utf-8")

    def median(scenario: str) -> float:
        row = re.search(rf"^\| {scenario} \| quotecast \| [\d,]+ \| ([\d,]+) \|", text, re.MULTILINE)
        if row is None:
            raise LookupError(scenario)
        return float(row[1].replace(",", ""))

    return Measured(requests=median("P1"), frames=median("P3"))


def rows(found: Measured) -> Iterator[str]:
    """The figures and the table, in Markdown."""
    yield f"Measured, per second of one core: {found.requests:,.0f} requests, {found.frames:,.0f} frames."
    yield ""
    yield (
        "| clients | frames each per second | cores for feeds | cores for HTTP | workers "
        "| memory of sockets | bandwidth |"
    )
    yield "|---|---|---|---|---|---|---|"
    for clients in (10**5, 10**6):
        for rate in (4, 1):
            yield _row(clients, rate, found)


def _row(clients: int, rate: int, found: Measured) -> str:
    feeds = clients * rate / found.frames
    http = clients * REQUESTS_PER_CLIENT / found.requests
    workers = math.ceil((feeds + http) / UTILIZATION)
    bits = clients * rate * (FRAME_BYTES + OVERHEAD_BYTES) * 8
    cells = [f"{clients:,}", f"{rate}", f"{feeds:.1f}", f"{http:.1f}", f"{workers}"]
    memory = f"{clients * SOCKET_BYTES / 1e9:,.1f} GB"
    return f"| {' | '.join([*cells, memory, f'{bits / 1e9:.1f} Gbit/s'])} |"


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows(measured())) + "\n")
