"""The phases of a load test's scenario, and the requests of the control route."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).parent.parent.parent / "loadtests"


def load(name: str) -> Any:
    """Returns a module of the folder, which is locust's and no package."""
    spec = importlib.util.spec_from_file_location(name, _FOLDER / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


phases = load("phases")
control = load("control")


def test_events_belong_to_the_phase_in_which_they_end() -> None:
    test = phases.Phases(100, 120, 30)
    for moment, milliseconds in ((110, 10), (119.9, 20), (120, 30), (149, 40), (150, 50), (400, 60)):
        test.take(moment, "GET", milliseconds, failed=False)
    test.take(130, "POST", 70, failed=True)
    before, during, after = test.report(200)
    assert [row["phase"] for row in (before, during, after)] == ["before", "during", "after"]
    assert [row["seconds"] for row in (before, during, after)] == [20, 30, 50]
    assert [row["requests/s"] for row in (before, during, after)] == [0.1, 0.1, 0.0]
    assert [row["failures"] for row in (before, during, after)] == [0, 1, 0]
    assert (before["p50"], during["p50"], after["p99"]) == (10, 40, 60)


def test_ages_of_quotes_are_no_requests() -> None:
    """Frames are neither; their failures count."""
    test = phases.Phases(0, 10, 10)
    for age in (100, 200, 300, 400):
        test.take(5, "QUOTE", age, failed=False)
    test.take(5, "FEED", 900, failed=True)
    [row] = test.report(8)
    assert (row["requests/s"], row["p50"], row["failures"]) == (0, None, 1)
    assert (row["quotes/s"], row["age p50"], row["age p99"]) == (0.5, 200, 400)


def test_a_test_that_ends_early_has_fewer_phases() -> None:
    test = phases.Phases(0, 10, 10)
    assert [row["phase"] for row in test.report(15)] == ["before", "during"]


def test_a_scenario_without_an_end_lasts() -> None:
    test = phases.Phases(0, 10, 5)
    test.move(12, None)
    assert [(row["phase"], row["seconds"]) for row in test.report(100)] == [("before", 12), ("during", 88)]


@pytest.mark.parametrize(("milliseconds", "rounded"), [(0.2, 0), (7.4, 7.4), (147, 150), (3432, 3400)])
def test_times_are_rounded_to_two_digits(milliseconds: float, rounded: float) -> None:
    times = phases.Times()
    times.add(milliseconds)
    assert times.percentile(0.5) == rounded


def test_the_table_has_a_line_for_each_phase() -> None:
    heading, line = phases.table(phases.Phases(0.0, 10.0, 10.0).report(5.0)).splitlines()
    assert heading.split()[0] == "phase"
    assert line.split() == ["before", "5.0", "0.0", "0", "-", "-", "-", "0.0", "-", "-"]


def test_a_start_is_relative_or_a_time() -> None:
    assert phases.moment_of("+30", 100) == 130
    assert phases.moment_of("1970-01-01T00:02:00Z", 100) == 120


@pytest.mark.parametrize("text", ["30", "+", "+-1", "+nan", "+inf", "1970-01-01T00:02:00", "soon", ""])
def test_another_start_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        phases.moment_of(text, 0)


def test_a_scenario_has_parameters() -> None:
    assert control.body_of("open-burst") == {"name": "open-burst"}
    assert control.body_of("flash-crash,depth=0.2,symbols=AAPL") == {
        "name": "flash-crash",
        "depth": 0.2,
        "symbols": "AAPL",
    }


def test_the_answer_says_how_long_it_lasts() -> None:
    answer = {"start": "2026-11-23T14:30:00.000Z", "end": "2026-11-23T14:32:00.000Z"}
    assert control.length_of(answer) == 120
    assert control.length_of(answer | {"end": None}) is None
