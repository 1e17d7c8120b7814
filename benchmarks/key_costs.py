"""What an API key costs a worker: CPU time of a frame and of a request, with a key and without one.

The cases alternate on one running worker, every tenth of a second for frames and every second for requests,
so that all meet the same noise of the machine. Each round has clients without a key twice; the difference
between those two is the noise.
"""

import random
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from math import ceil
from pathlib import Path
from statistics import median
from typing import Final

import httpx

from benchmarks.contenders import Server, quotecast
from benchmarks.load import answered, hold_listeners, wrk
from benchmarks.paced import CYCLE, ORDER, STOCKS, end_of, stock_of, turn_at
from benchmarks.pairs import ratio_of
from benchmarks.processes import cpu_seconds, reserved_port

#: The cases, which are the numbers of their stocks.
PLAIN, SAME, KEYED = range(STOCKS)
FRAME_ROUNDS: Final = 14
REQUEST_ROUNDS: Final = 8
#: Sockets of each case.
LISTENERS: Final = 1000
#: Turns of a round.
FRAME_TURNS: Final = 3 * CYCLE
REQUEST_TURNS: Final = 2 * len(ORDER)
#: Seconds in which the clients of one case ask, and until the worker has answered them. In less than a second
#: the leases of their rate limit would count most: a worker begins with small ones (ADR 21).
REQUEST_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 0.01
READ: Final = "/api/market/quotes/S0000"
_FRAMES: Final = re.compile(r'^quotecast_feed_frames_total\{feed="stocks"\} (\S+)', re.MULTILINE)
_SCRIPT: Final = """
wrk.headers["X-API-Key"] = "%s"
"""

#: CPU seconds of a frame or a request, by case.
Costs = Mapping[int, float]


def costs(settings: Mapping[str, str], key: str) -> Iterator[str]:
    """Yields the costs of a key for frames and for requests."""
    with reserved_port() as metrics_port:
        own = {"QUOTECAST_CRYPTO": "none", "QUOTECAST_DOVIZ": "none"}
        own["QUOTECAST_METRICS_PORT"] = str(metrics_port)
        with quotecast({**settings, **own}, ingest=["benchmarks.paced"]) as server, _script(key) as script:
            frames = [_frames(server, metrics_port, key) for _ in range(FRAME_ROUNDS)]
            yield from _lines(f"frame to one of {LISTENERS:,} sockets", frames)
            requests = [_requests(server, script) for _ in range(REQUEST_ROUNDS)]
            yield from _lines("request", requests)


def _lines(what: str, rounds: Sequence[Costs]) -> Iterator[str]:
    plain = sorted(each[PLAIN] * 1e6 for each in rounds)
    yield f"CPU of a {what}: {median(plain):.1f} µs without a key, {plain[0]:.1f} to {plain[-1]:.1f} by round"
    keyed = ratio_of([((each[PLAIN] + each[SAME]) / 2, each[KEYED]) for each in rounds])
    noise = ratio_of([(each[PLAIN], each[SAME]) for each in rounds])
    yield f"  with a key: {keyed}; without one again, which is the noise: {noise}; {len(rounds)} rounds"


def _frames(server: Server, metrics_port: int, key: str) -> Costs:
    """Opens new sockets of all cases, then measures turn by turn: in each the stock of one case moves."""
    with ExitStack() as stack:
        # Each round opens the cases in another order and gives them other stocks, so other turns.
        order, stocks = _mixed(), dict(zip(_mixed(), range(STOCKS), strict=True))
        for case in order:
            path = _feed(stocks[case], key if case == KEYED else "")
            stack.enter_context(hold_listeners(server.feed_port, [path], LISTENERS, warm=0.5))
        before = _frames_sent(metrics_port)
        spent = _turns(server.pids)
        sent = _frames_sent(metrics_port) - before
    if sent < LISTENERS * FRAME_TURNS:
        raise RuntimeError(f"the worker sent {sent} frames only: it or its publisher was late")
    frames = LISTENERS * FRAME_TURNS / STOCKS
    return {case: spent[stock] / frames for case, stock in stocks.items()}


def _mixed() -> list[int]:
    return random.sample(range(STOCKS), STOCKS)


def _feed(stock: int, key: str) -> str:
    path = f"/api/ws/market?symbols=S{stock:04}&interval=100"
    return f"{path}\tX-API-Key: {key}" if key else path


def _turns(pids: Sequence[int]) -> dict[int, float]:
    """Returns the CPU seconds of the turns of each stock."""
    spent = dict.fromkeys(range(STOCKS), 0.0)
    first = turn_at(time.monotonic()) + 1
    _wait(end_of(first - 1))
    before = cpu_seconds(pids)
    for turn in range(first, first + FRAME_TURNS):
        _wait(end_of(turn))
        after = cpu_seconds(pids)
        spent[stock_of(turn)] += after - before
        before = after
    return spent


def _wait(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def _frames_sent(metrics_port: int) -> float:
    text = httpx.get(f"http://127.0.0.1:{metrics_port}/metrics").text
    found = _FRAMES.search(text)
    assert found, text
    return float(found[1])


def _requests(server: Server, script: Path) -> Costs:
    """Lets the clients of one case ask at a time; those of the others are stopped."""
    spent = dict.fromkeys(range(STOCKS), 0.0)
    url = f"http://127.0.0.1:{server.port}{READ}"
    seconds = ceil((REQUEST_TURNS + STOCKS) * (REQUEST_SECONDS + ANSWER_SECONDS))
    clients: dict[int, subprocess.Popen[str]] = {}
    cases = _mixed()
    for case in cases:
        before = cpu_seconds(server.pids)
        clients[case] = wrk(url, seconds, script=script if case == KEYED else None, timeout=seconds)
        _ask(clients[case])
        spent[case] += cpu_seconds(server.pids) - before
    for turn in range(REQUEST_TURNS):
        case = cases[stock_of(turn)]
        before = cpu_seconds(server.pids)
        clients[case].send_signal(signal.SIGCONT)
        _ask(clients[case])
        spent[case] += cpu_seconds(server.pids) - before
    asked = {}
    for case, client in clients.items():
        before = cpu_seconds(server.pids)
        client.send_signal(signal.SIGCONT)
        asked[case], _, _ = answered(url, client.communicate()[0])
        spent[case] += cpu_seconds(server.pids) - before
    return {case: spent[case] / asked[case] for case in spent}


def _ask(client: "subprocess.Popen[str]") -> None:
    time.sleep(REQUEST_SECONDS)
    client.send_signal(signal.SIGSTOP)
    time.sleep(ANSWER_SECONDS)


@contextmanager
def _script(key: str) -> Iterator[Path]:
    """Yields a script for wrk, whose requests have the key."""
    with tempfile.TemporaryDirectory() as name:
        script = Path(name) / "key.lua"
        script.write_text(_SCRIPT % key)
        yield script
