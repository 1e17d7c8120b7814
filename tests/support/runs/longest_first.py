"""The longest units of tests start first, short ones between them: workers end together; a plug-in of pytest.

A unit is the tests of a file that run together, or a test with the marker `apart`.

`tests/durations.json` has the seconds of files that take more than a few: of `just test`, of browsers and of
the long ones. `--write-durations` writes those that run.
"""

import json
from collections import defaultdict
from collections.abc import Container
from pathlib import Path
from typing import Final

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

_DURATIONS: Final = Path(__file__).parents[2] / "durations.json"
_SHORT_SECONDS: Final = 1.0
#: Markers of each kind of run in that file; the first that a test has counts.
_KINDS: Final = {"browser": "browser", "slow": "long", "deploy": "long", "vendors": "long"}
#: Folders whose files share a service: one after the other, so that a worker starts it once.
_TOGETHER: Final = ("tests/security/", "tests/wire/", "tests/doors/")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--write-durations`."""
    parser.addoption(
        "--write-durations", action="store_true", help="write how long each file of this run took"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Takes over the order from xdist, which starts files with most tests first."""
    config.option.loadscopereorder = False
    if config.getoption("--write-durations"):
        config.pluginmanager.register(_Durations(), "durations of files")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sorts units for workers of xdist; a single process keeps the order of names."""
    if hasattr(config, "workerinput"):
        seconds: defaultdict[str, float] = defaultdict(float)
        for (unit, _), each in seconds_of_units(items).items():
            seconds[_place_of(unit)] += each
        turns = _turns(seconds)
        items.sort(key=lambda item: turns[_place_of(unit_of(item.nodeid, item.keywords)[0])])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Gives a worker a unit at a time."""
    return _UnitScheduling(config, log) if config.option.dist == "loadfile" else None


class _UnitScheduling(LoadFileScheduling):  # type: ignore[misc]  # has no types
    """Knows a test that is apart by its recorded seconds: no item with markers is in this process."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        self._apart = {unit for units in _recorded().values() for unit in units if "::" in unit}

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid in self._apart else nodeid.partition("::")[0]


def seconds_of_units(items: list[pytest.Item]) -> dict[tuple[str, str], float]:
    """Returns the recorded seconds of each unit of tests, 0 if it has none."""
    recorded = _recorded()
    units = {unit_of(item.nodeid, item.keywords) for item in items}
    return {unit: recorded[unit[1]].get(unit[0], 0.0) for unit in sorted(units)}


def unit_of(test: str, keywords: Container[str]) -> tuple[str, str]:
    """Returns the file of a test, or the test itself if it has the marker `apart`; and its kind."""
    kind = next((kind for marker, kind in _KINDS.items() if marker in keywords), "tests")
    return (test if "apart" in keywords else test.partition("::")[0]), kind


class _Durations:
    """Adds up the seconds of each unit."""

    def __init__(self) -> None:
        self._seconds: defaultdict[tuple[str, str], float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[unit_of(report.nodeid, report.keywords)] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        written = _recorded()
        for kind in {kind for _, kind in self._seconds}:
            ordered = sorted(self._seconds.items(), key=lambda pair: -pair[1])
            written[kind] = {
                unit: round(seconds, 1)
                for (unit, its), seconds in ordered
                if its == kind and seconds > _SHORT_SECONDS
            }
        _DURATIONS.write_text(json.dumps(written, indent=1) + "\n")


def _recorded() -> dict[str, dict[str, float]]:
    recorded: dict[str, dict[str, float]] = json.loads(_DURATIONS.read_text())
    return recorded


def _turns(seconds: dict[str, float]) -> dict[str, float]:
    """Returns when in a run each place starts, from 0 to 1: the longest first, the others at all times.

    Long files wait for many of their seconds and others compute: together they use both cores. In the last
    fifth are others alone, so no worker still has a long one when the rest have ended.
    """
    recorded = sorted(filter(seconds.get, seconds), key=lambda place: -seconds[place])
    others = [place for place in seconds if not seconds[place]]
    turns = {place: turn / len(recorded) * 0.8 for turn, place in enumerate(recorded)}
    return turns | {place: turn / len(others) for turn, place in enumerate(others)}


def _place_of(unit: str) -> str:
    return next((folder for folder in _TOGETHER if unit.startswith(folder)), unit)
