"""`quotecast audit --vendor` on a simulated Binance: each scenario shows in the figure that it concerns."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from support.runs.deadlines import scaled, slowness
from support.servers.simulated_vendor import simulated_vendor

pytestmark = pytest.mark.slow

#: A machine under load is slow; only the figure of the test may break.
PATIENT = ("--max-age-p99", "60000", "--max-silence", "60")


def audited(scenario: str | None, *options: str) -> tuple[int, dict[str, Any]]:
    """Returns the exit code and the report of a few seconds."""
    arguments = ("--scenario", scenario) if scenario else ()
    with simulated_vendor("binance", "--rate", "500", *arguments) as vendor:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "quotecast", "audit", "--vendor", "binance"),
                *("--seconds", f"{5 * slowness():.0f}", "--json", *PATIENT, *options),
            ],
            env={
                **os.environ,
                "QUOTECAST_BINANCE_URL": vendor.url,
                "QUOTECAST_BINANCE_WEBSOCKET_URL": vendor.websocket_url,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=scaled(60),
        )
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("scenario", [None, "out-of-order,every=5", "duplicate,every=5"])
def test_the_adapter_never_goes_back_in_time(scenario: str | None) -> None:
    """Late and doubled messages are refused rows, and no quotes."""
    code, report = audited(scenario)
    crypto = report["feeds"]["crypto"]
    assert (code, report["broken"]) == (0, [])
    assert crypto["quotes"]
    assert crypto["backwards"] == {"timestamps": 0, "cursors": 0}


def test_bad_ticks_are_counted() -> None:
    """Zero, NaN and a hundredfold price are no quotes, and none is from the future."""
    _, report = audited("bad-tick,every=5")
    crypto = report["feeds"]["crypto"]
    assert crypto["refused"]["unreadable"]
    assert crypto["refused"]["absurd"]
    assert crypto["ages"]["ahead"] == 0


@pytest.mark.parametrize(
    ("scenario", "option", "limit"),
    [
        ("drop,every=1", "--max-gaps", "0"),
        ("frozen", "--max-silence", "2"),
        ("slow", "--max-age-p99", "400"),
    ],
)
def test_a_disturbed_line_breaks_its_threshold(scenario: str, option: str, limit: str) -> None:
    code, report = audited(scenario, option, limit)
    assert code == 1
    assert option in {broken["option"] for broken in report["broken"]}
