"""The rules of prometheus-adapter give the autoscaler its metrics; promtool plays series to them."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # ships no types

from deploy.charts import ROOT, by_name, render

pytestmark = pytest.mark.deploy

RULES: list[dict[str, Any]] = yaml.safe_load((ROOT / "deploy/prometheus/adapter.yaml").read_text("utf-8"))[
    "rules"
]["custom"]
METRICS = (ROOT / "src" / "quotecast" / "api" / "metrics" / "metrics.py").read_text("utf-8")
POD = 'namespace="quotecast",pod="{}"'


def query(rule: dict[str, Any]) -> str:
    """Returns the query that the adapter sends for two pods."""
    series = rule["seriesQuery"].split("{")[0]
    asked: str = rule["metricsQuery"]
    for name, value in (
        ("Series", series),
        ("LabelMatchers", 'namespace="quotecast",pod=~"busy|idle"'),
        ("GroupBy", "pod"),
    ):
        asked = asked.replace(f"<<.{name}>>", value)
    assert "<<" not in asked
    return asked


def series(name: str, pod: str, labels: str, values: str) -> dict[str, str]:
    return {"series": f"{name}{{{POD.format(pod)},{labels}}}", "values": values}


def test_the_autoscaler_asks_for_these_metrics() -> None:
    """The chart names the metrics of the rules, and the worker has the series."""
    values = Path(__file__).parent / "chart" / "everything.yaml"
    scaler = by_name(render("--values", values))["HorizontalPodAutoscaler", "prices-api"]
    asked = {each["pods"]["metric"]["name"] for each in scaler["spec"]["metrics"] if each["type"] == "Pods"}
    assert asked == {rule["name"]["as"] for rule in RULES}
    for rule in RULES:
        name = re.sub(r"_sum$", "", rule["seriesQuery"].split("{")[0])
        assert f'"{name.removeprefix("quotecast_")}"' in METRICS
    targets = [each["pods"]["target"] for each in scaler["spec"]["metrics"] if each["type"] == "Pods"]
    assert [each["averageValue"] for each in targets] == ["1000000", "150m"]


def test_prometheus_answers_with_a_value_for_each_pod(tmp_path: Path) -> None:
    """A pod has the sum of its feeds, and the mean age of all they send: 0 while it sends nothing."""
    sockets, ages = "quotecast_feed_sockets", "quotecast_feed_send_age_seconds"
    given = [
        series(sockets, "busy", 'feed="crypto",transport="websocket"', "700x20"),
        series(sockets, "busy", 'feed="stocks",transport="sse"', "50x20"),
        series(sockets, "idle", 'feed="crypto",transport="websocket"', "0x20"),
        series(sockets, "other", 'feed="crypto",transport="websocket"', "9x20"),
    ]
    for pod, feed, ticks, total in (
        ("busy", "crypto", 30, 6),
        ("busy", "stocks", 10, 4),
        ("idle", "crypto", 0, 0),
    ):
        given.append(series(f"{ages}_count", pod, f'feed="{feed}"', f"0+{ticks}x20"))
        given.append(series(f"{ages}_sum", pod, f'feed="{feed}"', f"0+{total}x20"))
    expected = [[("busy", 750.0), ("idle", 0.0)], [("busy", 0.25), ("idle", 0.0)]]
    checks = [
        {
            "expr": f"round({query(rule)}, 0.001)",
            "eval_time": "4m",
            "exp_samples": [{"labels": f'{{pod="{pod}"}}', "value": value} for pod, value in samples],
        }
        for rule, samples in zip(RULES, expected, strict=True)
    ]
    played = tmp_path / "played.yaml"
    test = {"interval": "15s", "input_series": given, "promql_expr_test": checks}
    played.write_text(yaml.safe_dump({"rule_files": [], "tests": [test]}), "utf-8")
    command = ["promtool", "test", "rules", str(played)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
