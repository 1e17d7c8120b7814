"""promtool reads the alerts and plays series to them."""

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.deploy

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "alerts.yaml"
PLAYED = Path(__file__).with_name("alerts_test.yaml")


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = ["promtool", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_prometheus_reads_the_alerts() -> None:
    answer = promtool("check", "rules", RULES)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_alerts_fire_when_they_should() -> None:
    """A vanished target fires one alert, each stale feed fires one, failing probes fire none."""
    answer = promtool("test", "rules", PLAYED)
    assert answer.returncode == 0, answer.stdout + answer.stderr
