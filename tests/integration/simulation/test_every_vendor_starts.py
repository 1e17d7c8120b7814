"""Every vendor's simulation starts by the command, answers, and ends in order."""

import re
import signal
import subprocess
import sys

import httpx
import pytest

from quotecast.commands.simulate import VENDORS
from support.runs.deadlines import scaled


@pytest.mark.slow
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_starts_answers_and_ends(vendor: str) -> None:
    command = [sys.executable, "-m", "quotecast", "simulate", vendor, "--key", "a", "--secret", "b"]
    plan = ["--free-plan"] if vendor in {"alpaca", "finnhub"} else []
    more = ["--hours", "exchange", "--scenario", "slow", "--control-port", "0"]
    with subprocess.Popen(
        [*command, *more, *plan], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            assert process.stderr
            line = process.stdout.readline()
            found = re.search(r"REST at (\S+),", line)
            assert found, line + process.stderr.read()
            # Kraken answers unknown paths with 200 and an error.
            assert httpx.get(found[1] + "/no-such-path").content
            process.send_signal(signal.SIGTERM)
            assert process.wait(scaled(30)) == 0
        finally:
            process.kill()
