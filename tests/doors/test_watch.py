"""`quotecast watch`, in a terminal and in a pipe, over the death of both workers."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from doors.watched import Watched
from support.runs.deadlines import scaled
from support.servers.running_up import Up
from support.stages.door_market import Market, kill_workers

SYMBOLS = ("AAPL", "BTC/USDT", "gram-altin")
CTRL_C = b"\x03"

pytestmark = pytest.mark.slow


@pytest.fixture
def watched(up: Up) -> Iterator[Watched]:
    """Watches in a terminal; the address is that of a remote service."""
    watching = Watched(SYMBOLS, "--url", f"http://127.0.0.1:{up.port}", "--interval", "100")
    try:
        yield watching
    finally:
        watching.kill()


def test_the_table_is_right_after_both_workers_died(up: Up, market: Market, watched: Watched) -> None:
    """A terminal shows the newest prices, and never a wrong one; Ctrl-C ends it with code 0."""
    market.wait_until_shown(watched.prices, SYMBOLS)
    kill_workers(up)
    market.wait_for_moves(SYMBOLS)
    market.wait_until_shown(watched.prices, SYMBOLS)
    watched.press(CTRL_C)
    assert watched.end() == 0
    market.require_known(watched.shown())
    assert [symbol for symbol, _ in watched.shown()[-len(SYMBOLS) :]] == [*SYMBOLS]
    assert "Traceback" not in watched.raw


def test_a_pipe_gets_lines(up: Up) -> None:
    """The reader may end before the command does."""
    command = [
        sys.executable,
        "-m",
        "quotecast",
        "watch",
        "AAPL",
        "BTC/USDT",
        "--url",
        f"127.0.0.1:{up.port}",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        lines = [process.stdout.readline() for _ in range(3)]
        process.stdout.close()
        assert (process.wait(scaled(60)), process.stderr.read()) == (0, "")
    assert [line.split()[1] for line in lines[:2]] == ["AAPL", "BTC/USDT"]


def test_an_unknown_symbol_is_named(up: Up) -> None:
    done = run(up, "APPL", "BTC/USDT", "--once")
    assert done.returncode == 1
    assert done.stderr.startswith("quotecast: No feed has APPL; did you mean AAPL (Apple Inc.)")
    assert done.stdout == ""


def test_once_shows_and_ends(up: Up, market: Market) -> None:
    done = run(up, "aapl", "bank:akbank", "--once")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0][1] == "AAPL"
    assert {row[1].partition("-")[0] for row in rows[1:]} == {"akbank"}
    market.require_known((row[1], float(row[2])) for row in rows)


def run(up: Up, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quotecast", "watch", *arguments, "--url", f"http://127.0.0.1:{up.port}"],
        capture_output=True,
        text=True,
        timeout=scaled(60),
        check=False,
    )
