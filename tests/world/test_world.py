"""Simulated worlds follow from their seed, and their checks find faults in the service."""

import os
import subprocess
import sys
from typing import Final

import pytest

from world.planted import PLANTED

#: Faults that few worlds show: finding one takes longer than a part of the long run.
RARE: Final = frozenset({"a stopping worker forgets its counts", "an empty segment hides a gap"})


def run_world(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "world", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        out, err = process.communicate()
    with pytest.raises(ProcessLookupError):  # no world outlives the command
        os.killpg(process.pid, 0)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.slow
def test_a_seed_plays_the_same_world_each_time() -> None:
    """Byte for byte in two processes: one server of Redis, one behind Sentinels, and a cluster."""
    first, other = (run_world("--seed", "13", "10", "20").stdout for _ in range(2))
    *traces, _ = first.splitlines()
    assert traces == other.splitlines()[:-1]
    assert len(traces) > 3 * 50


@pytest.mark.slow
def test_a_broken_promise_comes_with_its_fewest_faults() -> None:
    """The report names the promise, the faults that it takes, which are none here, and what happened."""
    found = run_world(
        "--planted", "a cursor advances before the write", "--first", "3", "--seeds", "1", "--faults", "2"
    )
    assert found.returncode == 1, found.stderr
    assert "breaks a promise: a copy equals the feed" in found.stdout
    _, _, report = found.stdout.partition("faults:\n")
    faults, _, trace = report.partition("trace:\n")
    assert faults == "  none\n"
    assert "BROKEN a copy equals the feed" in trace


@pytest.mark.slow
@pytest.mark.apart
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.minutes) if name in RARE else name for name in PLANTED]
)
def test_a_planted_fault_is_found(name: str) -> None:
    """Within 500 worlds."""
    found = run_world("--planted", name, "--seeds", "500", "--whole")
    assert found.returncode == 1, found.stdout + found.stderr
    assert "breaks a promise" in found.stdout
