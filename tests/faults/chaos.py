"""`python -m faults.chaos SEED [--minutes 10] [--fault NAME] [--tiers]`: draws faults at random under load.

The same seed draws the same faults. A named fault is part of each draw, alone or with another. With `--tiers`
an edge follows the workers and another edge follows that one, with clients at all three and clients that
change between them; each draw has a fault of an edge or of its line, alone or with another one. No client
may get a wrong value, no read may fail except by a worker's own fault, and no acknowledged write may be
lost or doubled; after each fault every client must hold the newest prices soon. The exit code is 1 if a
promise was broken, and the output names it.
"""

import argparse
import itertools
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from http.client import HTTPException
from typing import Final, Self

from faults.drawn_faults import TIERED, Fault, Group, groups, names
from faults.split_drawn import SETTINGS
from quotecast.close_codes import CloseCode
from quotecast.market.codec import iso_utc
from support.runs.deadlines import scaled
from support.runs.figures import SLACK
from support.servers.whole_service import Whole, whole_service
from support.stages.account_outage import register
from support.stages.standard_load import Read, StandardLoad
from support.stages.tiers import TieredLoad

HOLDINGS: Final = "/api/portfolio/holdings"
PATIENCE_SECONDS: Final = 45.0
#: Writes that a user's limit of 1,000 holdings allows.
WRITE_PAUSE_SECONDS: Final = 1.0
CLOSES: Final = {1006, 1012}
#: An edge that starts while its origin is away has no data.
CLOSES_OF_EDGES: Final = {*CLOSES, CloseCode.NO_DATA}
#: Share of seeds under which Sentinels watch Redis.
SENTINELS: Final = 0.5


class Writer:
    """A user who adds holdings one by one and repeats each until acknowledged, with an idempotency key."""

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        session = register(whole)
        self._authorization = {"Authorization": f"Bearer {session['token']}"}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.statuses: Counter[int] = Counter()
        self.acknowledged: dict[str, int] = {}
        #: Seconds of the slowest try.
        self.slowest = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(scaled(PATIENCE_SECONDS))

    def problems(self) -> list[str]:
        """Returns acknowledged holdings that are missing or doubled."""
        held = self._whole.service.get(HOLDINGS, headers=self._authorization).json()
        numbers = Counter(int(each["shares"]) for each in held)
        ids = {each["id"] for each in held}
        lost = [f"holding {number} is lost" for id_, number in self.acknowledged.items() if id_ not in ids]
        return lost + [
            f"holding {number} is there {count} times" for number, count in numbers.items() if count > 1
        ]

    def _write(self) -> None:
        for number in itertools.count(1):
            while not self._buy(number):
                if self._over.wait(0.1):
                    return
            if self._over.wait(WRITE_PAUSE_SECONDS):
                return

    def _buy(self, number: int) -> bool:
        body = {"ticker": "AAPL", "shares": number, "avg_cost": 2}
        headers = {**self._authorization, "Idempotency-Key": f"chaos-{number:06}"}
        began = time.monotonic()
        try:
            status, answer = self._whole.post(HOLDINGS, body, headers)
        except (OSError, HTTPException, ValueError):  # no answer, or a part of one
            status, answer = 0, {}
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.statuses[status] += 1
        if status == 201:
            self.acknowledged[answer["id"]] = number
        return status == 201


class Run:
    """Draws faults, inflicts them, and collects the results."""

    def __init__(
        self, seed: int, tell: Callable[[str], None], always: str | None = None, *, tiered: bool = False
    ) -> None:
        self._random = random.Random(seed)
        self._tiered = tiered
        #: Whether Redis is one server or a master with its replica and Sentinels.
        self.sentinels = self._random.random() < SENTINELS
        self._always = always
        if always and always not in names(sentinels=self.sentinels, tiered=tiered):
            self.sentinels = not self.sentinels
        self._tell = tell
        self._began = time.monotonic()
        self._began_at = time.time()
        #: Unix times between which reads may be repeated or fail.
        self._repeats: list[tuple[float, float]] = []
        self._losses: list[tuple[float, float]] = []
        self.inflicted: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self.problems: list[str] = []

    def step(self, whole: Whole, load: StandardLoad) -> None:
        """Inflicts up to two faults at a time, for a while; then waits until every client is up to date."""
        faults = self._draw()
        seconds = self._random.uniform(0.2, min(each.at_most_seconds for each in faults))
        name = " and ".join(each.name for each in faults)
        began = time.time()
        with ExitStack() as stack:
            for fault in faults:
                stack.enter_context(fault.inflict(whole))
                self.inflicted[fault.name] += 1
            time.sleep(seconds)
        self._judge(name, faults, load, began, seconds)

    def read_failures(self, load: StandardLoad) -> list[str]:
        """Returns reads that failed, or that clients repeated, though no worker stopped."""
        return [
            f"[{read.at - self._began_at:5.0f} s] a read failed: {read.status} {read.trouble}"
            for read in load.reads
            if (read.status != 200 or read.trouble) and not self._is_excusable(read)
        ]

    def _draw(self) -> list[Fault]:
        """One or two faults, of different groups, in the order in which they begin."""
        known = groups(sentinels=self.sentinels, tiered=self._tiered)
        count = self._random.choice((1, 2) if self._tiered else (1, 1, 2))
        drawn = self._draw_groups(known, count)
        chosen = {group: self._random.choice(group) for group in drawn}
        for group in known:
            for fault in group:
                if fault.name == self._always:
                    others = [each for each in drawn if each is not group]
                    chosen = {group: fault, **{each: chosen[each] for each in others[: count - 1]}}
        return [chosen[group] for group in known if group in chosen]

    def _draw_groups(self, known: Sequence[Group], count: int) -> list[Group]:
        if not self._tiered:
            return self._random.sample(known, count)
        first = self._random.choice(TIERED)
        return [first, *self._random.sample([group for group in known if group is not first], count - 1)]

    def _judge(
        self, name: str, faults: Sequence[Fault], load: StandardLoad, began: float, seconds: float
    ) -> None:
        promised = max(each.healed_within for each in faults)
        took = self._time_until_newer(load, promised)
        for reads, times in (("repeated", self._repeats), ("lost", self._losses)):
            if any(each.reads == reads for each in faults):
                times.append((began - 5, time.time()))
        self.slowest[name] = max(took, self.slowest.get(name, 0.0))
        if took > promised * SLACK:
            self.problems.append(f"{name}: all right again only after {took:.1f} s")
        at = time.monotonic() - self._began
        self._tell(f"[{at:5.0f} s] {name}, {seconds:.1f} s; right again after {took:.2f} s ({promised:g})")

    def _time_until_newer(self, load: StandardLoad, promised: float) -> float:
        """Returns the seconds until every client has newer prices; names those that have none in time."""
        at = time.time()
        for patience in (promised, PATIENCE_SECONDS):
            try:
                load.until_newer(at, patience)
            except AssertionError:
                late = Counter(
                    f"{each.url} {each.feed}" for each in load.listeners if each.newest <= iso_utc(at)
                )
                self._tell(f"late after {patience:g} s: {dict(late)}; load of the machine {os.getloadavg()}")
            else:
                return time.time() - at
        return float("inf")

    def _is_excusable(self, read: Read) -> bool:
        times = self._losses if read.status == 0 else [*self._losses, *self._repeats]
        return read.status in {0, 200} and any(start <= read.at <= end for start, end in times)


def run(
    seed: int,
    minutes: float,
    tell: Callable[[str], None],
    always: str | None = None,
    *,
    tiered: bool = False,
) -> list[str]:
    """Runs for that long; returns the broken promises as text."""
    this = Run(seed, tell, always, tiered=tiered)
    running = whole_service(SETTINGS, sentinels=this.sentinels, pooled=True, tiered=tiered)
    with running as whole, Writer(whole) as writer:
        try:
            with whole.under_load() as load:
                end = time.monotonic() + minutes * 60
                while time.monotonic() < end and not load.broken_promises:
                    this.step(whole, load)
        except AssertionError as error:
            this.problems.append(f"at the end: {error}")
        problems = [
            *this.problems,
            *load.broken_promises,
            *this.read_failures(load),
            *_unexpected_closes(load),
        ]
        problems += writer.problems()
        tell(_summary(this, load, writer))
    return problems


def _unexpected_closes(load: StandardLoad) -> list[str]:
    usual = CLOSES_OF_EDGES if isinstance(load, TieredLoad) else CLOSES
    odd = {code: count for code, count in load.closes.items() if code not in usual}
    return [f"clients were closed with {odd}"] if odd else []


def _summary(this: Run, load: StandardLoad, writer: Writer) -> str:
    return "\n".join(
        [
            f"faults: {dict(this.inflicted)}",
            f"reads: {dict(load.statuses())}, p99 {load.read_seconds(0.99) * 1000:.0f} ms",
            f"reads that were repeated or lost with a worker: {len(load.errors)}",
            f"closes: {dict(load.closes)}",
            *_changes(load),
            f"writes: {dict(writer.statuses)}, acknowledged {len(writer.acknowledged)}",
            f"slowest write: {writer.slowest:.1f} s",
            f"slowest to be right again: {max(this.slowest.values(), default=0.0):.2f} s",
        ]
    )


def _changes(load: StandardLoad) -> list[str]:
    """Returns a line on the clients that changed between tiers."""
    if not isinstance(load, TieredLoad):
        return []
    moves, resyncs = (sum(getattr(each, name) for each in load.wanderers) for name in ("moves", "resyncs"))
    return [f"changes between tiers: {moves}, of which {resyncs} with a resync"]


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="just chaos", description="Faults drawn at random, under load.")
    parser.add_argument("seed", type=int)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--tiers", action="store_true", help="two edges in a row, with faults between them")
    every = names(sentinels=False, tiered=True) | names(sentinels=True)
    parser.add_argument("--fault", choices=sorted(every))
    options = parser.parse_args()
    problems = run(options.seed, options.minutes, _print, options.fault, tiered=options.tiers)
    _print("\n".join(problems) or "no broken promise")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
