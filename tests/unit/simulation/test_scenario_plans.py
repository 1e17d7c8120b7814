"""Scenarios as texts and files: what they mean, and what the errors name."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from quotecast.simulation.market.scenarios.catalogue import (
    CATALOGUE,
    ScenarioError,
    describe,
    parameters_of,
    scenario_of,
)
from quotecast.simulation.market.scenarios.connections import Frozen
from quotecast.simulation.market.scenarios.planning import MAX_FILE_BYTES, MAX_PLANNED, plan_of, planned_of
from quotecast.simulation.market.scenarios.schedule import Planned
from quotecast.simulation.market.scenarios.trading import BadTick, OpenBurst


def _at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


NOW = _at("2026-11-20T12:00:00")


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        ("open-burst", Planned(OpenBurst(), NOW)),
        ("frozen,symbols=", Planned(Frozen(), NOW)),
        ("open-burst@+1.5,factor=5", Planned(OpenBurst(factor=5), NOW + 1500)),
        ("frozen@14:30", Planned(Frozen(), _at("2026-11-20T14:30:00"))),
        ("frozen@12:00:00", Planned(Frozen(), NOW)),
        ("frozen@11:59:59", Planned(Frozen(), _at("2026-11-21T11:59:59"))),
        ("frozen@2026-11-20T14:30:00Z", Planned(Frozen(), _at("2026-11-20T14:30:00"))),
        ("frozen@2026-11-20T14:30:00+03:00", Planned(Frozen(), _at("2026-11-20T11:30:00"))),
        ("frozen@2026-11-20T14:30", Planned(Frozen(), _at("2026-11-20T14:30:00"))),
        (
            "bad-tick,every=5,symbols=AAPL+BTC/USDT,kind=nan,seconds=9",
            Planned(BadTick(every=5, symbols=("AAPL", "BTC/USDT"), kind="nan", seconds=9), NOW),
        ),
    ],
)
def test_texts(text: str, planned: Planned) -> None:
    assert planned_of(text, NOW) == planned


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no scenario ''; known are bad-tick, "),
        ("nope", "there is no scenario 'nope'; known are bad-tick, "),
        ("bad-tick,foo=1", "bad-tick: there is no parameter 'foo'; it has symbols, every, kind, seconds"),
        ("bad-tick,name=frozen", "bad-tick: there is no parameter 'name'"),
        ("frozen,seconds", "frozen: 'seconds' is not key=value"),
        ("drop,symbols=AAPL", "drop: there is no parameter 'symbols'; it has every, seconds"),
        ("frozen,seconds=soon", "frozen: seconds: Must be a number"),
        ("frozen,seconds=nan", "frozen: seconds: Must be at least 0.1"),
        ("frozen,seconds=inf", "frozen: seconds: Must be at most 604800.0"),
        ("bad-tick,every=0", "bad-tick: every: Must be at least 1"),
        ("slow,by=" + "9" * 400, "slow: by: Must be at most 60000"),
        ("bad-tick,kind=odd", "bad-tick: kind: Must be one of zero, hundredfold, nan, crossed, future"),
        ("frozen,symbols=" + "A" * 33, "frozen: symbols: Must be at most 1000, of 32 characters each"),
        ("halt,symbols=AAPL+BTCUSDT", "halt: symbols: there is no 'BTCUSDT'; name tickers (AAPL) and "),
        ("frozen@25:00", "frozen: at '25:00' is not a start within a year; give +SECONDS, HH:MM, "),
        ("frozen@+99999999", "is not a start within a year"),
        ("frozen@9999-12-31T23:59:59-12:00", "is not a start within a year"),
        ("frozen@+-3", "is not a start within a year"),
        ("frozen," + "x" * 5000, "must have at most 4096 characters"),
    ],
)
def test_errors_of_texts(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        planned_of(text, NOW)
    assert message in str(raised.value)


def test_a_file_plans_by_clock_time(tmp_path: Path) -> None:
    file = tmp_path / "day.toml"
    file.write_text(
        """
        [[scenario]]
        name = "open-burst"
        at = 14:30:00
        factor = 3
        [[scenario]]
        name = "frozen"
        at = 2026-11-20T15:00:00Z
        symbols = ["AAPL"]
        [[scenario]]
        name = "frozen"
        at = "+60"
        [[scenario]]
        name = "frozen"
        at = 90
        [[scenario]]
        name = "frozen"
        """
    )
    assert plan_of([str(file), "open-burst@+1"], NOW) == [
        Planned(OpenBurst(factor=3), _at("2026-11-20T14:30:00")),
        Planned(Frozen(symbols=("AAPL",)), _at("2026-11-20T15:00:00")),
        Planned(Frozen(), NOW + 60_000),
        Planned(Frozen(), NOW + 90_000),
        Planned(Frozen(), NOW),
        Planned(OpenBurst(), NOW + 1000),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("= 3", "is not TOML: "),
        ("", "needs at least one [[scenario]]"),
        ("scenario = 3", "needs at least one [[scenario]]"),
        ("scenarios = []", "there is no key 'scenarios'; it has [[scenario]] only"),
        ("[[scenario]]\nat = 3", "scenario 1: needs a name"),
        (
            '[[scenario]]\nname = "frozen"\n[[scenario]]\nname = "nope"',
            "scenario 2: there is no scenario 'nope'",
        ),
        ('[[scenario]]\nname = "frozen"\nseconds = []', "scenario 1: frozen: seconds: Must be a number"),
        ('[[scenario]]\nname = "frozen"\nat = true', "scenario 1: frozen: at 'True' is not a start"),
        ('[[scenario]]\nname = "frozen"\nat = nan', "scenario 1: frozen: at 'nan' is not a start"),
        ("#" * (MAX_FILE_BYTES + 1), f"is larger than {MAX_FILE_BYTES} bytes"),
        (
            '[[scenario]]\nname = "frozen"\n' * (MAX_PLANNED + 1),
            f"there may be at most {MAX_PLANNED} scenarios",
        ),
    ],
)
def test_errors_of_files(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(ScenarioError) as raised:
        plan_of([str(file)], NOW)
    assert message in str(raised.value)


def test_a_semicolon_joins_scenarios() -> None:
    assert plan_of(["frozen; open-burst@+1"], NOW) == [
        Planned(Frozen(), NOW),
        Planned(OpenBurst(), NOW + 1000),
    ]


def test_without_a_session_starts_are_iso_times() -> None:
    planned = planned_of("frozen@2026-11-20T14:30:00Z", None)
    assert planned == Planned(Frozen(), _at("2026-11-20T14:30:00"))
    for text in ("frozen", "frozen@14:30", "frozen@+3"):
        with pytest.raises(ScenarioError, match="frozen: needs a start as an ISO time"):
            planned_of(text, None)


@pytest.mark.parametrize("at", ["0001-01-01", "1989-12-31T23:59", "2100-01-01", "9999-12-31T23:59:59-12:00"])
def test_starts_are_in_years_that_calendars_know(at: str) -> None:
    with pytest.raises(ScenarioError, match=r"frozen: at .*: the year must be from 1990 to 2099"):
        planned_of(f"frozen@{at}", None)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"nowhere\.toml: No such file"):
        plan_of(["nowhere.toml"], NOW)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioError, match="is not TOML"):
        plan_of([str(file)], NOW)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_every_scenario_has_defaults_and_a_line(name: str) -> None:
    scenario = scenario_of(name, {})
    parameters = parameters_of(scenario)
    assert scenario_of(parameters.pop("name"), parameters) == scenario
    assert scenario.milliseconds is None or scenario.milliseconds > 0
    assert any(line.startswith(f"{name}: ") for line in describe())
