"""Two sessions of one seed, schedule and start are equal to the byte."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quotecast.commands.simulate import VENDORS

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[2]
#: Every effect on delivery, some of them at the same time.
SCENARIOS = (
    "duplicate,every=5,by=40",
    "out-of-order,every=9",
    "bad-tick,every=20",
    "drop,every=7",
    "open-burst@+5,seconds=5,factor=5",
    "slow@+12,seconds=6",
    "frozen@+20,seconds=3",
    "rate-limited@+24,seconds=4",
    "maintenance@+33,seconds=4",
)
#: Every event of prices and of the calendar.
EVENTS = (
    "flash-crash@+3,fall_seconds=5,recovery_seconds=10",
    "halt@+8,seconds=6",
    "new-listing@+18,symbols=NVDA+ETH/USDT",
    "split@+25,overnight=false",
    "delisting@+50,symbols=NVDA",
    "gap-open@2026-11-19T12:00",
    "holiday@2026-11-19T12:00",
    "half-day@2026-11-20T12:00,close=09:31",
)


SERVERS = ["tiny", *VENDORS]


def _record_twice(vendor: str, *scenarios: str) -> list[bytes]:
    """Returns the sessions of two processes in which sets of texts have different orders."""
    command = [sys.executable, "-m", "support.servers.simulated_session", vendor, *scenarios]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env={**environment, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    ]
    sessions = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    return sessions


@pytest.mark.parametrize("vendor", SERVERS)
def test_a_session_repeats(vendor: str) -> None:
    first, second = _record_twice(vendor)
    assert first == second
    assert first.count(b"\n") > 500


@pytest.mark.parametrize("vendor", SERVERS)
def test_a_session_with_scenarios_repeats(vendor: str) -> None:
    first, second = _record_twice(vendor, *SCENARIOS)
    assert first == second
    # One for each drop; a vendor may close connections during its maintenance too.
    assert first.count(b"connection lost") >= 8


@pytest.mark.parametrize("vendor", SERVERS)
def test_a_session_with_events_of_the_market_repeats(vendor: str) -> None:
    first, second = _record_twice(vendor, *EVENTS)
    assert first == second
    assert first.count(b"\n") > 100
