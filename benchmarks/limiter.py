"""The cost of a rate-limit check, in batches and with a call for each.

As a program, `python -m benchmarks.limiter URL WAY SECONDS` checks as fast as it can and prints the result;
the way is `batched`, as in the service, or `single`. The way `admit` prints how many of a thousand requests
of one key were admitted.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Final

import uvloop

from benchmarks.contenders import folder, redis
from benchmarks.figures import OURS, Round
from benchmarks.processes import SERVER_CORE, cpu_seconds
from quotecast.limits.window import Window

SINGLE: Final = "a call for each"
#: Concurrent requests of a worker.
AT_ONCE: Final = 64
WORKERS: Final = 4
ADMITTED: Final = 100


def checks(seconds: float) -> Iterator[Round]:
    """Yields checks per second of CPU, Valkey's included."""
    with folder() as place, redis(place, core=None) as port:
        valkey = int((place / "valkey.pid").read_text())
        while True:
            yield {
                OURS: _measure(port, "batched", seconds, valkey),
                SINGLE: _measure(port, "single", seconds, valkey),
            }


def admissions(_: float) -> Iterator[Round]:
    """Yields how many of 4,000 concurrent requests of one key and four workers a limit of 100 admits."""
    while True:
        with folder() as place, redis(place, core=None) as port, ExitStack() as stack:
            workers = [stack.enter_context(_start(port, "admit", 0)) for _ in range(WORKERS)]
            yield {OURS: float(sum(json.loads(worker.communicate()[0])["admitted"] for worker in workers))}


def _measure(port: int, way: str, seconds: float, valkey: int) -> float:
    before = cpu_seconds([valkey])
    with _start(port, way, seconds) as worker:
        result = json.loads(worker.communicate()[0])
    return float(result["checks"] / (result["cpu_seconds"] + cpu_seconds([valkey]) - before))


def _start(port: int, way: str, seconds: float) -> Popen[bytes]:
    module = [sys.executable, "-m", "benchmarks.limiter", f"redis://127.0.0.1:{port}", way, str(seconds)]
    return Popen(["taskset", "-c", str(SERVER_CORE), *module], stdout=PIPE, cwd=Path(__file__).parent.parent)


async def _check(window: Window, way: str, seconds: float) -> dict[str, float]:
    lone = asyncio.Lock()
    ends = time.monotonic() + seconds
    count = 0

    async def client(number: int) -> None:
        nonlocal count
        while time.monotonic() < ends:
            if way == "single":
                async with lone:
                    await window.check(f"client {number}", 1_000_000)
            else:
                await window.check(f"client {number}", 1_000_000)
            count += 1

    used = time.process_time()
    await asyncio.gather(*(client(number) for number in range(AT_ONCE)))
    return {"checks": count, "cpu_seconds": time.process_time() - used}


async def _admit(window: Window) -> dict[str, float]:
    decisions = await asyncio.gather(*(window.check("one", ADMITTED) for _ in range(1000)))
    return {"admitted": sum(decision.admitted for decision in decisions)}


async def _main(url: str, way: str, seconds: float) -> None:
    async with Window(url, prefix="bench", budget=5.0) as window:
        result = await (_admit(window) if way == "admit" else _check(window, way, seconds))
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    uvloop.run(_main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
