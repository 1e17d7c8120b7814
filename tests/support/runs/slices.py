"""A part of the long tests: `--slice 3/14`; a plug-in of pytest.

Every file of the run is in one slice, but for tests with the marker `apart`, each of which takes minutes. By
`tests/durations.json` all slices take about as long.
"""

import pytest

from support.runs.longest_first import seconds_of_units, unit_of


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--slice`."""
    parser.addoption("--slice", metavar="K/N", help="only slice K of N of the files; K counts from 0")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests of other slices."""
    if not (option := config.getoption("--slice")):
        return
    number, count = map(int, option.split("/"))
    chosen = _slices(seconds_of_units(items), count)[number]
    others = [item for item in items if unit_of(item.nodeid, item.keywords) not in chosen]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if unit_of(item.nodeid, item.keywords) in chosen]


def _slices(seconds: dict[tuple[str, str], float], count: int) -> list[set[tuple[str, str]]]:
    """Shares the units among slices: the longest first, each to the slice with the fewest seconds."""
    slices: list[set[tuple[str, str]]] = [set() for _ in range(count)]
    totals = [0.0] * count
    for unit in sorted(seconds, key=lambda unit: -seconds[unit]):
        number = totals.index(min(totals))
        slices[number].add(unit)
        # A unit that is not in the file is short.
        totals[number] += max(seconds[unit], 1.0)
    return slices
