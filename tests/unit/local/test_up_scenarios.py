"""The scenarios of `quotecast up`: each gets its time once, for all processes."""

from pathlib import Path
from typing import Any

import pytest

from quotecast.errors import SettingsError
from quotecast.local import up
from quotecast.providers.simulator.offer import OFFER
from quotecast.settings.loading import load
from quotecast.simulation.market.scenarios.catalogue import CATALOGUE, scenario_of
from quotecast.simulation.market.scenarios.planning import plan_of, texts_of
from quotecast.simulation.market.scenarios.schedule import Planned

NO_BUDGETS: Any = None
NOW = 1_795_186_800_250
VARIABLE = "QUOTECAST_SIMULATOR_SCENARIO"


def planned(*texts: str, **environment: str) -> dict[str, str]:
    """Returns the variables that `up` gives its processes."""
    given = {f"QUOTECAST_{name}": value for name, value in environment.items()}
    return {VARIABLE: up.plan_scenarios(load(given), texts, NOW).own["simulator"].scenario}


def test_each_scenario_gets_its_time() -> None:
    """Those of the setting come first; a start is now, in some seconds, or a time."""
    found = planned("open-burst", "drop@+60,every=5", SIMULATOR_SCENARIO="frozen@2026-11-20T12:00:00Z")
    assert found == {
        VARIABLE: "frozen@2026-11-20T12:00:00.000Z;open-burst@2026-11-20T15:00:00.250Z;"
        "drop@2026-11-20T15:01:00.250Z,every=5.0"
    }


def test_other_processes_read_the_same_plan() -> None:
    """A process that starts an hour later has the same starts."""
    texts = ["bad-tick@+5,symbols=AAPL+BTC/USDT,kind=nan", "open-burst@16:30,factor=2.5,seconds=7"]
    child = load(planned(*texts))
    assert child.own["simulator"].plan(None) == plan_of(texts, NOW)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_scenario_can_be_written(name: str) -> None:
    plan = [Planned(scenario_of(name, {}), NOW)]
    assert plan_of(texts_of(plan), None) == plan


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """The processes get the file's scenarios, and do not read it."""
    file = tmp_path / "monday.toml"
    file.write_text('[[scenario]]\nname = "frozen"\nat = 15:30:00\nseconds = 3\n')
    assert planned(str(file)) == {VARIABLE: "frozen@2026-11-20T15:30:00.000Z,seconds=3.0"}


def test_the_greeting_names_the_scenarios() -> None:
    settings = up.plan_scenarios(load({}), ["maintenance@+60"], NOW)
    assert up.describe_scenarios(settings) == ["Scenario        maintenance@2026-11-20T15:01:00.250Z"]
    assert up.describe_scenarios(load({})) == []


def test_a_wrong_scenario_is_one_line() -> None:
    with pytest.raises(SettingsError, match=r"^--scenario: there is no scenario 'opn-burst'; known are .*$"):
        planned("opn-burst")
    with pytest.raises(SettingsError, match=rf"^{VARIABLE}: drop: there is no parameter 'evry'; it has .*$"):
        planned(SIMULATOR_SCENARIO="drop,evry=5")


def test_a_service_without_simulated_data_has_no_scenarios() -> None:
    live = {"STOCKS": "none", "CRYPTO": "binance", "DOVIZ": "truncgil", "FINANCIALS": "none"}
    with pytest.raises(SettingsError, match="--scenario: no group has simulated data"):
        planned("open-burst", **live)
    assert planned(**live) == {VARIABLE: ""}


def test_a_single_process_needs_the_time_of_a_start() -> None:
    """Each process would begin it at another time, and their prices would differ."""
    settings = load({VARIABLE: "drop@+5"})
    assert OFFER.assets
    with pytest.raises(SettingsError, match=rf"^{VARIABLE}: drop: needs a start .*; `quotecast up` also"):
        OFFER.assets(settings.own["simulator"], NO_BUDGETS)
