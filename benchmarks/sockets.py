"""`python -m benchmarks.sockets`: very many sockets on one machine, for docs/capacity.md.

    python -m benchmarks.sockets [--sockets 20000] [--workers N] [--seconds 30] [--only idle,own,killed]

- `idle`: sockets with lists of symbols that do not move, while the others of the market do. Memory and CPU
  time of the workers, heartbeats on.
- `own`: sockets with lists of twenty moving symbols on one worker, `interval=1000`. Ages of quotes, CPU time.
- `killed`: one of the workers of `idle` is killed. Seconds until every client has a snapshot again, and
  handshakes for each CPU second of the workers.

The clients have the addresses 127.0.0.1 and up. Both ends of every socket are on this machine, so it needs
twice as many open files.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Final

from benchmarks.contenders import Server, quotecast
from benchmarks.crowd import (
    Clients,
    Memory,
    NotAllowedError,
    check_kernel,
    connecting,
    memory_of,
    raise_files,
    sysctl,
)
from benchmarks.fanout import MARKET, OWN_SYMBOLS, own_paths
from benchmarks.processes import LOAD_CORE, cpu_seconds
from quotecast.market import reference
from quotecast.stream.capacity import OWN_FILES

#: The part of a worker's files that feeds may take, and a margin for the kernel's uneven distribution.
FEED_FILES: Final = 0.75 * 0.93
FILES: Final = "ulimit -n"
#: Seconds in which all workers start: each takes some seconds of a core.
STARTING_SECONDS: Final = 120.0
#: Seconds until clients that have connected are measured.
SETTLING_SECONDS: Final = 4.0
#: Symbols of the simulated market that trade while all others are halted, and their updates a second.
MOVING: Final = 50
RATE: Final = 50
OWN_RATE: Final = 2_000


def halted_market(now: float) -> tuple[dict[str, str], list[str]]:
    """Returns settings of a market in which most stocks do not move, and those stocks."""
    tickers = [stock.ticker for stock in reference.stocks()]
    still = tickers[MOVING:]
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 60))
    scenario = f"halt@{since},symbols={'+'.join(still)},seconds=3600"
    return {**MARKET, "QUOTECAST_SIMULATOR_RATE": str(RATE), "QUOTECAST_SIMULATOR_SCENARIO": scenario}, still


def lists_of(tickers: Sequence[str], count: int) -> list[str]:
    """Returns the paths of that many clients with the default interval, each with its own list."""
    chance = random.Random(1)
    lists = (",".join(chance.sample(tickers, OWN_SYMBOLS)) for _ in range(count))
    return [f"/api/ws/market?symbols={symbols}" for symbols in lists]


def wait_for_workers(port: int, workers: int) -> None:
    """Waits until all workers listen. Raises RuntimeError."""
    listening = f":{port:04X} 00000000:0000 0A"
    deadline = time.monotonic() + STARTING_SECONDS
    while Path("/proc/net/tcp").read_text().count(listening) < workers:
        if time.monotonic() > deadline:
            raise RuntimeError("not all workers listen")
        time.sleep(0.2)
    time.sleep(2)


def feeds_of(files: int) -> int:
    """Returns the feeds that a worker with that limit of files takes."""
    return (files - OWN_FILES - 8) * 3 // 4


def idle_and_killed(sockets: int, workers: int, files: int, seconds: float, parts: Sequence[str]) -> None:
    """Prints memory and CPU time of idle sockets, and how they come back when a worker dies."""
    settings, still = halted_market(time.time())
    with quotecast(settings, workers, core=None) as server:
        assert server.feed_port
        wait_for_workers(server.feed_port, workers)
        _say(f"{workers} workers listen")
        pids, before, used = server.pids, memory_of(server.pids), cpu_seconds(server.pids)
        with connecting(server.feed_port, lists_of(still, sockets), sockets, files) as clients:
            took = max(float(line.split()[1]) for line in clients.answers())
            _print_handshakes("opened", sockets, took, cpu_seconds(pids) - used)
            if "idle" in parts:
                _idle(clients, server, sockets, seconds, before)
            if "killed" in parts:
                _killed(clients, server, workers)


def _idle(clients: Clients, server: Server, sockets: int, seconds: float, before: Memory) -> None:
    clients.measure(SETTLING_SECONDS)
    opened, used = memory_of(server.pids), cpu_seconds(server.pids)
    found = clients.measure(seconds)
    used = cpu_seconds(server.pids) - used
    after = memory_of(server.pids)
    beats, frames = sum(each.heartbeats for each in found), sum(each.frames for each in found)
    _say(
        f"idle: {sockets:,} sockets on {len(server.pids)} workers for {seconds:.0f} s\n"
        f"  private memory of the workers  {(opened.private - before.private) / sockets:,.0f} bytes each, "
        f"{(after.private - before.private) / sockets:,.0f} at the end\n"
        f"  the kernel's, both ends        {(after.kernel - before.kernel) / sockets:,.0f} bytes each\n"
        f"  CPU of all workers             {used / seconds:.3f} of a core\n"
        f"  heartbeats a second            {beats / seconds:,.0f}, other frames {frames - beats:,}"
    )


def _killed(clients: Clients, server: Server, workers: int) -> None:
    victim, *others = server.pids
    used = cpu_seconds(others)
    clients.command("lose")
    os.kill(victim, signal.SIGKILL)
    found = [line.split() for line in clients.answers()]
    lost, took = sum(int(each[2]) for each in found), max(float(each[1]) for each in found)
    _say(f"killed: one of {workers} workers, with {lost:,} clients")
    _print_handshakes("back", lost, took, cpu_seconds(others) - used)


def _print_handshakes(what: str, count: int, took: float, used: float) -> None:
    _say(
        f"{what}: {count:,} in {took:.1f} s, {count / took:,.0f} a second; "
        f"{used / count * 1e6:.0f} us of a worker's core each, {count / used:,.0f} for each CPU second"
    )


def own_lists(files: int, seconds: float) -> None:
    """Prints ages and CPU time of 20,000 frames a second to own lists, on one worker."""
    frames = 20_000
    sockets = min(frames, feeds_of(files))
    settings = {**MARKET, "QUOTECAST_SIMULATOR_RATE": str(OWN_RATE)}
    fast = frames - sockets
    paths = [*own_paths(sockets - fast, 1000), *own_paths(fast, 500)]
    if fast:
        _say(
            f"own: {FILES} {files:,} lets a worker take {sockets:,} feeds: {fast:,} of them have interval=500"
        )
    with quotecast(settings) as server:
        assert server.feed_port
        with connecting(server.feed_port, paths, sockets, files, LOAD_CORE) as clients:
            clients.answers()
            clients.measure(SETTLING_SECONDS)
            used = cpu_seconds(server.pids)
            (found,) = clients.measure(seconds)
            used = cpu_seconds(server.pids) - used
    _say(
        f"own: {sockets:,} sockets with {OWN_SYMBOLS} symbols each on one worker for {seconds:.0f} s\n"
        f"  updates and quotes a second {(found.frames - found.heartbeats) / found.seconds:,.0f}, "
        f"{found.quotes / found.seconds:,.0f}\n"
        f"  age of quotes               p50 {found.age_p50:,.0f} ms, p99 {found.age_p99:,.0f} ms, "
        f"greatest {found.age_max:,.0f} ms\n"
        f"  CPU of the worker           {used / found.seconds:.3f} of a core; the clients' "
        f"{found.cpu_seconds / found.seconds:.3f}\n"
        f"  served, lost                {found.served:,}, {found.lost:,}"
    )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _check(sockets: int, workers: int, files: int) -> None:
    """Raises NotAllowedError if the machine's limits are too low."""
    most = int(files * FEED_FILES) * workers
    if sockets > most:
        raise NotAllowedError(
            f"{FILES} is {files:,}: {workers} workers take {most:,} sockets; raise it, or give --workers"
        )
    check_kernel(sockets)


def main() -> None:
    """Measures the chosen parts."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.sockets", description=__doc__)
    words.add_argument("--sockets", type=int, default=20_000)
    words.add_argument(
        "--workers", type=int, default=0, help="0: as many as their open files ask for, and one"
    )
    words.add_argument("--seconds", type=float, default=30)
    words.add_argument("--only", default="idle,own,killed")
    given = words.parse_args()
    parts = given.only.split(",")
    files = raise_files(given.sockets * 2)
    workers = given.workers or ceil(given.sockets / (files * FEED_FILES)) + 1
    try:
        _check(given.sockets, workers, files)
    except NotAllowedError as refusal:
        sys.exit(f"benchmarks.sockets: {refusal}")
    ports = sysctl("net/ipv4/ip_local_port_range").split()
    _say(f"{FILES} {files:,}, {workers} workers, net.ipv4.ip_local_port_range {' '.join(ports)}")
    if {"idle", "killed"} & {*parts}:
        idle_and_killed(given.sockets, workers, files, given.seconds, parts)
    if "own" in parts:
        own_lists(files, given.seconds)


if __name__ == "__main__":
    main()
