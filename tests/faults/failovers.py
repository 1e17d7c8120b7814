"""`python -m faults.failovers [--runs 5] [--clients 1000]`: what clients see of failovers of Redis.

One ingest and two workers use a master that three Sentinels watch (`down-after-milliseconds 1000`). Sentinels
swap master and replica by plan, and the master dies, in turn. The exit code is 1 if a client saw a gap, an
older or a wrong price, lost its socket, or if a read failed.
"""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from support.servers.sentinel_set import SentinelSet, running_sentinels
from support.servers.service import Service
from support.servers.whole_service import SETTINGS
from support.stages.standard_load import StandardLoad

#: Update interval in milliseconds of each client.
INTERVAL_MILLISECONDS: Final = 1000
PATIENCE_SECONDS: Final = 60.0


@dataclass
class Seconds:
    """Of one kind of failover: until the replica was promoted, from then to the last client, and both."""

    promotion: list[float] = field(default_factory=list)
    healing: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    def lines(self, kind: str) -> list[str]:
        """Returns table rows with median and maximum."""
        return [
            f"| {kind} | {name} | {median(values):.2f} | {max(values):.2f} |"
            for name, values in (
                ("until the replica is the master", self.promotion),
                ("from then until the last client has newer prices", self.healing),
                ("both", self.whole),
            )
        ]


def fail_over(
    sentinels: SentinelSet, load: StandardLoad, switch: Callable[[], float], found: Seconds
) -> None:
    """Switches the master once, and notes the seconds."""
    sentinels.until_whole()
    load.until_newer(time.time(), PATIENCE_SECONDS)
    began = time.time()
    promoted = switch()
    healed = load.until_newer(promoted, PATIENCE_SECONDS)
    found.promotion.append(promoted - began)
    found.healing.append(healed)
    found.whole.append(promoted - began + healed)


def run(runs: int, clients: int, tell: Callable[[str], None]) -> list[str]:
    """Returns broken promises as text."""
    kinds: Mapping[str, Seconds] = {"planned switch": Seconds(), "crash": Seconds()}
    with running_sentinels() as sentinels, Service(sentinels, SETTINGS) as service:
        service.start("ingest", "api", "api")
        with StandardLoad(service.port, clients=clients, interval=INTERVAL_MILLISECONDS) as load:
            for number in range(runs):
                for kind, found in kinds.items():
                    planned = kind == "planned switch"
                    switch = sentinels.failover if planned else sentinels.kill_master
                    fail_over(sentinels, load, switch, found)
                    if not planned:
                        sentinels.restart()
                    tell(f"run {number + 1}, {kind}: {found.promotion[-1]:.2f} + {found.healing[-1]:.2f} s")
            # With the upstreams at rest every client must hold the state of REST.
            service.processes[0].send_signal(signal.SIGSTOP)
            load.until_equal(PATIENCE_SECONDS)
    tell(f"\n| {clients} clients, {runs} runs | seconds | median | maximum |\n|---|---|---|---|")
    for kind, found in kinds.items():
        tell("\n".join(found.lines(kind)))
    closes, statuses = dict(load.closes), dict(load.statuses())
    tell(f"\nbroken promises {len(load.broken_promises)}, closed sockets {closes}, reads {statuses}")
    failed = [f"reads: {statuses}"] if {*statuses} != {200} else []
    return [*load.broken_promises, *([f"closed sockets: {closes}"] if closes else []), *failed, *load.errors]


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m faults.failovers", description="Failovers of Redis.")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--clients", type=int, default=1000)
    options = parser.parse_args()

    def tell(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    problems = run(options.runs, options.clients, tell)
    tell("\n".join(problems) or "no gap, no older or wrong price, no lost socket, no failed read")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
