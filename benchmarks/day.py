"""`python -m benchmarks.day [--clients N] [--symbols N] [--regions N] [--day FILE] [--costs FILE]`.

Walks through a day of an installation, minute by minute, and says what each resource has to do: the opening
burst, when everyone comes and everything moves at once, decides. The costs come from benchmarks/costs.toml,
the day from benchmarks/day.toml; both are measured or assumed elsewhere, and this program only calculates.
"""

import argparse
import math
import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import structs

from benchmarks.costs import MINUTES, Costs, Day, Installation, read

FOLDER: Final = Path(__file__).parent
#: Times a second that a worker reads what has changed.
TICKS: Final = 4
#: What grows, for the search of the first wall.
GROWING: Final = ("clients", "symbols", "updates")


class Load(NamedTuple):
    """Shares of the installation's clients and updates in a minute, and of those that come per second."""

    minute: int
    clients: float
    updates: float
    coming: float


class Minute(NamedTuple):
    """One minute in one region: what happens per second, and the share of each resource that it takes.

    `redis` and `ingest` are of the first region, which leads the feeds. 1 is a whole core or a whole line;
    `worker` is of the share that the installation may use.
    """

    minute: int
    clients: float
    updates: float
    handshakes: float
    worker: float
    network: float
    redis: float
    redis_network: float
    ingest: float

    def walls(self) -> dict[str, float]:
        """Returns the share of each resource."""
        names = ("worker", "network", "redis", "redis_network", "ingest")
        return {name: getattr(self, name) for name in names}


def loads(day: Day) -> Iterator[Load]:
    """Yields the load of every minute from the first moment to the last."""
    for before, after in pairwise(day.moment):
        length = after.minute - before.minute
        coming = max(0.0, after.clients - before.clients) / (length * MINUTES)
        for step in range(length):
            share = step / length
            clients = before.clients + (after.clients - before.clients) * share
            updates = before.updates + (after.updates - before.updates) * share
            yield Load(before.minute + step, clients, updates, coming)


def walk(day: Day, costs: Costs, workers: int) -> list[Minute]:
    """Returns every minute of a region with that many workers."""
    return [minute_of(day.installation, costs, workers, load) for load in loads(day)]


def minute_of(inst: Installation, costs: Costs, workers: int, load: Load) -> Minute:
    """Returns what a minute's load takes."""
    in_region = load.clients * inst.clients / inst.regions
    handshakes = load.coming * inst.clients / inst.regions
    changes = load.updates * inst.updates * inst.symbols
    batches = min(changes, 1000 / inst.spacing_ms)
    quotes = inst.list * (1 - math.exp(-load.updates * inst.updates * inst.interval_ms / 1000))
    frames = in_region * 1000 / inst.interval_ms * min(1.0, quotes)
    requests = in_region * inst.requests
    worker, redis, ingest = costs.worker, costs.redis, costs.ingest
    moved = inst.symbols * (1 - math.exp(-load.updates * inst.updates / TICKS))
    taking_in = batches * worker.batch_us + changes * worker.update_us + TICKS * moved * worker.read_us
    serving = (
        frames * (worker.frame_us + quotes * worker.quote_us)
        + handshakes * worker.handshake_us
        + requests * worker.request_us
    )
    others = inst.regions - 1
    relaying = changes * costs.relay.update_us + others * batches * costs.relay.region_us if others else 0.0
    # A worker of the first region has the line to the others; balancers give it fewer clients.
    busiest = taking_in + (serving + relaying) / workers
    subscribed = workers + 1
    storing = batches * redis.batch_us + changes * redis.update_us
    storing += subscribed * (batches * redis.subscriber_us + changes * redis.sent_update_us)
    hosts = math.ceil(workers / inst.cores)
    out = frames * (costs.bytes.frame + quotes * costs.bytes.quote)
    out += others * changes * costs.relay.update_bytes
    return Minute(
        load.minute,
        in_region,
        changes,
        handshakes,
        busiest / 1e6 / inst.utilization,
        out * 8 / hosts / (inst.network_gbit * 1e9),
        (storing + requests * redis.check_us) / 1e6,
        subscribed * changes * costs.bytes.update * 8 / (inst.redis_network_gbit * 1e9),
        (changes * ingest.update_us + batches * ingest.batch_us) / 1e6,
    )


def workers_for(day: Day, costs: Costs) -> int:
    """Returns the fewest workers of a region whose cores never pass the usable share.

    Raises ValueError if the market alone fills a worker.
    """
    if _peaks(scaled(day, "clients", 0), costs, 1)["worker"] >= 1:
        raise ValueError("the market alone fills a worker's core; reduce symbols or updates")
    most = 1
    while _peaks(day, costs, most)["worker"] > 1:
        most *= 2
    return bisect_left(
        range(most + 1), True, most // 2 + 1, key=lambda n: _peaks(day, costs, n)["worker"] <= 1
    )


def scaled(day: Day, name: str, factor: float) -> Day:
    """Returns a day with that many times as many clients, symbols or updates."""
    value = getattr(day.installation, name) * factor
    return structs.replace(day, installation=structs.replace(day.installation, **{name: value}))


def first_wall(day: Day, costs: Costs, name: str) -> tuple[str, float]:
    """Returns the resource that is full first when `name` grows, and how many times as much fills it.

    Workers and hosts grow along, unless their number is given.
    """
    low, high = 1.0, 2.0
    while not _full(scaled(day, name, high), costs):
        low, high = high, high * 2
        if high > 1 << 20:
            return "nothing", math.inf
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _full(scaled(day, name, middle), costs) else (middle, high)
    return _full(scaled(day, name, high), costs), high


def _full(day: Day, costs: Costs) -> str:
    """Returns the resource that is full first; empty if none is."""
    try:
        workers = day.installation.workers or workers_for(day, costs)
    except ValueError:
        return "worker"
    peaks = _peaks(day, costs, workers)
    if not day.installation.workers:
        del peaks["worker"]
    name = max(peaks, key=peaks.__getitem__)
    return name if peaks[name] >= 1 else ""


def _hardest(day: Day) -> list[Load]:
    """Returns the loads that no other exceeds in all three numbers: each resource has its peak at one."""
    found: list[Load] = []
    for load in sorted(loads(day), key=lambda each: each[1:], reverse=True):
        if not any(each.updates >= load.updates and each.coming >= load.coming for each in found):
            found.append(load)
    return found


def _peaks(day: Day, costs: Costs, workers: int) -> dict[str, float]:
    minutes = [minute_of(day.installation, costs, workers, load).walls() for load in _hardest(day)]
    return {name: max(each[name] for each in minutes) for name in minutes[0]}


_NAMES: Final[Mapping[str, str]] = {
    "worker": "a worker's core",
    "network": "the hosts' outgoing network",
    "redis": "Redis's core",
    "redis_network": "Redis's outgoing network",
    "ingest": "ingest's core",
    "nothing": "nothing",
}


_COLUMNS: Final = (
    "time",
    "clients of a region",
    "come/s",
    "updates/s",
    "worker",
    "network",
    "Redis",
    "its network",
    "ingest",
)


def report(day: Day, costs: Costs) -> Iterator[str]:
    """Yields the report, in Markdown."""
    inst = day.installation
    workers = inst.workers or workers_for(day, costs)
    hosts = math.ceil(workers / inst.cores)
    busiest = max(walk(day, costs, workers), key=lambda each: each.worker)
    memory = inst.clients / inst.regions / workers * costs.worker.socket_bytes + costs.worker.base_bytes
    yield (
        f"{inst.clients:,.0f} clients in {_count(inst.regions, 'region')}, {inst.symbols:,.0f} symbols with "
        f"{inst.updates:g} updates/s each in the opening burst."
    )
    yield (
        f"Each region: {_count(workers, 'worker')} on {_count(hosts, 'host')} with {inst.cores} cores, "
        f"{memory / 1e6:,.0f} MB for each worker. Its busiest minute is {_clock(busiest.minute)}."
    )
    yield ""
    yield f"| {' | '.join(_COLUMNS)} |"
    yield "|---" * len(_COLUMNS) + "|"
    shown = {moment.minute for moment in day.moment} | {busiest.minute}
    for each in walk(day, costs, workers):
        if each.minute in shown:
            yield _row(each)
    yield ""
    yield "Shares are of the usable part of a worker's core, of a whole core, or of a line."
    yield ""
    yield "| what grows | times | until this is full |"
    yield "|---|---|---|"
    for name in GROWING:
        wall, factor = first_wall(day, costs, name)
        yield f"| {name} | {factor:,.1f} | {_NAMES[wall]} |"


def _row(each: Minute) -> str:
    shares = (f"{value:.1%}" for value in each.walls().values())
    cells = (
        _clock(each.minute),
        *(f"{value:,.0f}" for value in (each.clients, each.handshakes, each.updates)),
    )
    return f"| {' | '.join((*cells, *shares))} |"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _clock(minute: int) -> str:
    return f"{minute // MINUTES:02}:{minute % MINUTES:02}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the report; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.day", description=__doc__)
    parser.add_argument("--day", type=Path, default=FOLDER / "day.toml", metavar="FILE")
    parser.add_argument("--costs", type=Path, default=FOLDER / "costs.toml", metavar="FILE")
    for name, kind in (
        ("clients", float),
        ("symbols", float),
        ("updates", float),
        ("regions", int),
        ("workers", int),
    ):
        parser.add_argument(f"--{name}", type=kind, metavar="N", help=f"in place of the file's `{name}`")
    given = vars(parser.parse_args(arguments))
    try:
        found = read(given.pop("day"), given.pop("costs"), given)
        sys.stdout.write("\n".join(report(*found)) + "\n")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"benchmarks.day: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
