"""`just bench` compares its ratios with those that were written."""

import json
from pathlib import Path

import pytest
from benchmarks import report
from benchmarks.figures import OURS, Figure, Goal, with_everything

GOALS = (Goal("nchan", 1.0), Goal("nchan", 1.0, everything=True), Goal("Go", 1.0))
FIGURE = Figure("P4", "market", "quotes", lambda _: iter(()), GOALS)


def measured(ours: float, everything: float) -> report.Measurement:
    """Returns one round in which the peer has 100 of each."""
    values = {OURS: ours, "nchan": 100.0, with_everything(OURS): everything, with_everything("nchan"): 100.0}
    return report.Measurement(FIGURE, {name: [value] for name, value in values.items()} | {"Go": [100.0]})


@pytest.mark.parametrize(
    ("ours", "everything", "fallen"),
    [(100, 50, 0), (90, 44, 0), (84, 50, 2), (100, 42, 1), (84, 42, 3), (200, 100, 0)],
)
def test_a_ratio_that_fell_by_15_percent_is_named(
    ours: float, everything: float, fallen: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both accounts are compared: the server's CPU, and that of everything behind the sockets."""
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.json")
    report.RESULTS.write_text(json.dumps({"P4": measured(100, 50).values}), "utf-8")
    lines = report.fallen([measured(ours, everything)])
    assert len(lines) == fallen
    assert all(line.startswith("P4: ") for line in lines)


def test_a_figure_that_was_never_written_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new figure, or a new peer, has nothing to fall from."""
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.json")
    report.RESULTS.write_text(json.dumps({"P4": {OURS: [100.0]}}), "utf-8")
    assert report.fallen([measured(1, 1)]) == []
