"""`just chaos-delayed SEED [--deliveries 10000000]`: hunts for early quotes under faults.

All clients have delayed quotes. They listen to every feed and read REST routes, while the faults of the other
chaos are drawn one after the other. Every quote that arrives names the time of its trade; one that is younger
than the delay is a leak. The exit code is 1 after a leak, and the output names it.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, Self

import httpx
import msgspec
import redis
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from faults.drawn_faults import Fault, groups
from support.runs.deadlines import scaled
from support.runs.waits import wait_until
from support.servers.whole_service import SETTINGS, Whole, whole_service

DELAY_SECONDS: Final = 4
#: Seconds in which a client has delayed quotes again after a Redis that lost all: the delay, and what the
#: service takes to notice.
PATIENCE_SECONDS: Final = 90.0
PLANS: Final = '[plans.anonymous]\nfreshness = "delayed"\n'
FEEDS: Final = ("market", "crypto", "doviz")
ROUTES: Final = (
    "/api/market/quotes",
    "/api/market/movers",
    "/api/market/heatmap",
    "/api/crypto/quotes",
    "/api/crypto/movers",
    "/api/doviz/quotes",
    "/api/doviz/quotes/gram-altin",
    "/api/search?q=a",
)
#: Faults of a PgBouncer, which this service has not.
_OTHER: Final = {"PgBouncer restarts"}


@contextlib.contextmanager
def kept_is_lost(whole: Whole) -> Iterator[None]:
    """Deletes what is kept for the delayed feeds."""
    with redis.Redis.from_url(whole.redis.url) as client:
        for key in client.scan_iter("*:kept"):
            client.delete(key)
    yield


@contextlib.contextmanager
def kept_is_poisoned(whole: Whole) -> Iterator[None]:
    """Adds blocks that no ingest wrote, while the others go on."""
    with redis.Redis.from_url(whole.redis.url) as client:
        for key in client.scan_iter("*:kept"):
            client.xadd(key, {"block": b"no block", "state": "1"})
    yield


@contextlib.contextmanager
def delayed_bus_is_lost(whole: Whole) -> Iterator[None]:
    """Deletes the delayed feeds and their leases."""
    with redis.Redis.from_url(whole.redis.url) as client:
        for key in client.scan_iter("*:delayed:*"):
            client.delete(key)
    yield


_OWN: Final = (
    Fault("kept blocks are lost", kept_is_lost),
    Fault("kept blocks are poisoned", kept_is_poisoned),
    Fault("the delayed bus is lost", delayed_bus_is_lost),
)


class Judge:
    """Counts the quotes that clients got, and the early ones."""

    def __init__(self) -> None:
        self.deliveries = 0
        self.leaks: list[str] = []
        #: The least lateness of a quote, in seconds.
        self.least = float("inf")
        #: Unix time of the newest trade by feed or route.
        self.newest: dict[str, float] = {}

    def see(self, place: str, answer: object, now: float) -> None:
        """Judges all quotes of an answer or a frame that arrived at a Unix time."""
        traded = [*_times(answer)]
        if not traded:
            return
        self.deliveries += len(traded)
        newest = datetime.fromisoformat(max(traded)).timestamp()
        self.newest[place] = max(newest, self.newest.get(place, 0.0))
        self.least = min(self.least, now - newest)
        if now - newest < DELAY_SECONDS:
            self.leaks.append(f"{place}: a quote came {now - newest:.3f} s after its trade")


def _times(value: object) -> Iterator[str]:
    """Yields the timestamps of all quotes in decoded JSON; that of a frame or of a status is no quote's."""
    if isinstance(value, dict):
        if isinstance(stamp := value.get("timestamp"), str) and "price" in value:
            yield stamp
        for each in value.values():
            if isinstance(each, dict | list):
                yield from _times(each)
    elif isinstance(value, list):
        for each in value:
            yield from _times(each)


class Clients:
    """Delayed clients in a thread of their own; they connect again after each failure."""

    def __init__(self, port: int, judge: Judge, count: int) -> None:
        self._port = port
        self._judge = judge
        self._count = count
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self.connects: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(scaled(PATIENCE_SECONDS))

    async def _run(self) -> None:
        tasks = [asyncio.create_task(self._listen(FEEDS[each % 3])) for each in range(self._count)]
        tasks.append(asyncio.create_task(self._read()))
        while not self._over.is_set():  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, feed: str) -> None:
        url = f"ws://127.0.0.1:{self._port}/api/ws/{feed}?symbols=all&interval=100"
        decode = msgspec.json.Decoder().decode
        while True:
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                async with connect(url, max_size=None, open_timeout=scaled(10), compression=None) as socket:
                    self.connects[feed] += 1
                    async for frame in socket:
                        self._judge.see(feed, decode(frame), time.time())
            await asyncio.sleep(0.2)

    async def _read(self) -> None:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self._port}", timeout=scaled(10)) as client:
            while True:
                for route in ROUTES:
                    with contextlib.suppress(httpx.HTTPError):
                        answer = await client.get(route)
                        if answer.status_code == httpx.codes.OK:
                            self._judge.see(route, answer.json(), time.time())
                    await asyncio.sleep(0.02)


def run(
    seed: int, deliveries: int, tell: Callable[[str], None], *, clients: int = 150, rate: int = 300
) -> Judge:
    """Draws faults until so many quotes have arrived. Raises AssertionError if a feed does not go on."""
    drawn, judge = random.Random(seed), Judge()
    every = [*_OWN, *(each for group in groups(sentinels=False, tiered=False) for each in group)]
    known = [each for each in every if each.name not in _OTHER]
    with tempfile.TemporaryDirectory() as folder:
        plans = Path(folder) / "plans.toml"
        plans.write_text(PLANS)
        settings = {
            **SETTINGS,
            "QUOTECAST_PLANS": str(plans),
            "QUOTECAST_DELAY_SECONDS": str(DELAY_SECONDS),
            "QUOTECAST_SIMULATOR_RATE": str(rate),
        }
        with (
            whole_service(settings) as whole,
            Clients(whole.service.port, judge, clients) as load,
        ):
            _until_newer(judge, time.time() - DELAY_SECONDS)
            while judge.deliveries < deliveries and not judge.leaks:
                fault = drawn.choice(known)
                with fault.inflict(whole):
                    time.sleep(drawn.uniform(0.2, fault.at_most_seconds))
                took = _until_newer(judge, time.time())
                tell(
                    f"{fault.name}: delayed quotes again after {took:.1f} s; {judge.deliveries:,} deliveries"
                )
        tell(f"{judge.deliveries:,} deliveries, {len(judge.leaks)} leaks, connections {dict(load.connects)}")
        tell(f"the youngest quote was {judge.least:.3f} s old; the delay is {DELAY_SECONDS} s")
    return judge


def _until_newer(judge: Judge, at: float) -> float:
    """Waits until all feeds show trades after a Unix time. Returns the seconds beyond the delay."""
    began = time.monotonic()
    wait_until(
        lambda: all(judge.newest.get(feed, 0.0) > at for feed in ("crypto", "doviz")),
        lambda: f"no delayed quotes: {judge.newest}",
        seconds=PATIENCE_SECONDS,
    )
    return time.monotonic() - began - DELAY_SECONDS


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description="Hunts for early quotes under faults.")
    parser.add_argument("seed", type=int)
    parser.add_argument("--deliveries", type=int, default=10_000_000)
    parser.add_argument("--clients", type=int, default=150)
    options = parser.parse_args()
    judge = run(options.seed, options.deliveries, _print, clients=options.clients)
    _print("\n".join(judge.leaks) or "no leak")
    return 1 if judge.leaks else 0


if __name__ == "__main__":
    sys.exit(main())
