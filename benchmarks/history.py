"""`python -m benchmarks.history [--updates N] [--seconds S]`: recording, opening and replaying.

The market is the simulator's, a random walk: 500 stocks with four updates a second each. Prints a line for
each figure, with its goal.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.contenders import folder, redis
from benchmarks.processes import cpu_seconds, reserved_port, running, wait_until
from quotecast.api.answers.answers import all_quotes_json
from quotecast.bus.base import FeedInfo
from quotecast.feed.past import apply_message, mirror_at
from quotecast.history.folder import Folder
from quotecast.history.playback import Playback, span_of
from quotecast.history.recorder import SegmentRecorder
from quotecast.history.segments import SUFFIX, segment_name
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.providers.simulator.client import SimulatorProvider

RATE: Final = 2_000.0
SEED: Final = 1
#: Segments of seven days, as many as a folder lists.
SEGMENTS: Final = 7 * 144
OPENED: Final = 200


class _Time:
    """A clock that only the simulator's sleeps move."""

    def __init__(self) -> None:
        self.now = float(int(time.time()) - 86_400)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


async def record(place: Path, feed: Feed, rate: float, updates: int) -> int:
    """Records a simulated feed, a block each second; returns the number of updates."""
    clock = _Time()
    recorder = SegmentRecorder(place, clock=lambda: clock.now)
    side, ledger = recorder.feeds[feed], Ledger(feed)
    ledger.bars.use(feed.spec.always_open)
    provider = SimulatorProvider(
        feed, seed=SEED, rate=rate, speed=1, always_open=True, clock=lambda: clock.now, sleep=clock.sleep
    )
    info, count, written = FeedInfo(provider=provider.name, always_open=True), 0, clock.now
    async with contextlib.aclosing(provider.updates()) as received:
        async for update in received:
            ledger.take(update, clock.now)
            if not ledger.epoch:
                side.begin(ledger.begin("0000000000aa00000001", info))
            elif ledger.waiting:
                batch, _, _ = ledger.next_batch(clock.now)
                side.add(batch, lambda: ledger.snapshot(info))
                count += len(batch.changes)
            if clock.now - written >= 1:
                recorder.write_waiting()
                written = clock.now
            if count >= updates:
                break
    recorder.start()
    recorder.stop()
    return count


def bytes_per_update(place: Path, feed: Feed, count: int) -> float:
    """Returns the bytes of a feed's segments for each update."""
    return sum(path.stat().st_size for path in (place / feed).glob(f"*{SUFFIX}")) / count


def open_times(place: Path, feed: Feed) -> list[float]:
    """Returns the seconds to open random moments, up to the body of all quotes, in a folder of seven days."""
    store = Folder(place)
    first, last = span_of(store, feed) or (0.0, 0.0)
    for number in range(1, SEGMENTS):
        name = segment_name(first - 600 * number, "0badcafe")
        (place / feed / f"{name}{SUFFIX}").touch()
    times = []
    for _ in range(OPENED):
        at = random.uniform(first + 1, last)
        began = time.perf_counter()
        playback = Playback(store, feed, at)
        all_quotes_json(mirror_at(playback, at))
        times.append(time.perf_counter() - began)
        playback.close()
    return sorted(times)


def replay_rate(place: Path, feed: Feed, count: int) -> float:
    """Returns the updates that one core replays in a second into a mirror that is read at every step."""
    store = Folder(place)
    first, _ = span_of(store, feed) or (0.0, 0.0)
    began = time.process_time()
    playback = Playback(store, feed, first + 0.001)
    mirror = mirror_at(playback, first + 0.001)
    while messages := playback.read(float("inf"), 10):
        for _, message in messages:
            apply_message(mirror, message)
        mirror.changes_since(mirror.mark.revision)
    playback.close()
    return count / (time.process_time() - began)


def recording_cost(seconds: float) -> Iterator[tuple[float, float]]:
    """Yields the CPU seconds of an ingest without recording, and of its twin with it, over equal times."""
    with folder() as place, redis(place, core=None) as port, contextlib.ExitStack() as stack:
        settings = {
            "QUOTECAST_REDIS_URL": f"redis://127.0.0.1:{port}",
            "QUOTECAST_SIMULATOR_RATE": str(RATE),
            "QUOTECAST_CRYPTO": "none",
            "QUOTECAST_DOVIZ": "none",
            "QUOTECAST_HISTORY_STORE": str(place / "history"),
        }
        pids = []
        for name, history in (("off", "off"), ("on", "7d")):
            http = stack.enter_context(reserved_port())
            own = {
                "QUOTECAST_REDIS_PREFIX": name,
                "QUOTECAST_HISTORY": history,
                "QUOTECAST_METRICS_PORT": str(http),
            }
            log = place / f"{name}.log"
            command = [sys.executable, "-m", "quotecast", "ingest"]
            process = stack.enter_context(running(command, core=None, environment=settings | own, log=log))
            wait_until(lambda log=log: b"ingest of" in log.read_bytes(), process, "ingest")  # type: ignore[misc]
            pids.append(process.pid)
        time.sleep(5)
        while True:
            before = [cpu_seconds([pid]) for pid in pids]
            time.sleep(seconds)
            off, on = (cpu_seconds([pid]) - used for pid, used in zip(pids, before, strict=True))
            yield off, on


def main() -> None:
    """Measures, and prints the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history")
    parser.add_argument("--updates", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for feed, rate in ((Feed.STOCKS, RATE), (Feed.CRYPTO, 280.0), (Feed.DOVIZ, 280.0)):
            number = arguments.updates if feed is Feed.STOCKS else arguments.updates // 10
            count = asyncio.run(record(place, feed, rate, number))
            size = bytes_per_update(place, feed, count)
            total = f"{size / 10:.2f} GB for 100 M (goal 4)"
            _say(f"{feed}, {rate:.0f} updates/s: {size:.1f} bytes an update, {total}")
            if feed is Feed.STOCKS:
                rate_of = replay_rate(place, feed, count)
                _say(f"replay: {rate_of:,.0f} updates per CPU s (goal 100,000)")
                times = open_times(place, feed)
                _say(
                    f"open a moment among {SEGMENTS} segments: median {times[OPENED // 2] * 1000:.0f} ms, "
                    f"longest {times[-1] * 1000:.0f} ms (goal 300)"
                )
    rounds = recording_cost(arguments.seconds)
    for _ in range(arguments.rounds):
        off, on = next(rounds)
        _say(f"recording: {on:.2f} CPU s instead of {off:.2f}, {100 * (on / off - 1):+.1f} % (goal 10)")
    rounds.close()  # type: ignore[attr-defined]  # a generator


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
