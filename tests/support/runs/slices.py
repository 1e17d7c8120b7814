"""A part of the long tests: `--slice 3/14`; a plug-in of pytest.

Every file of the run is in one slice, but for tests with the marker `apart`, each of which takes minutes.
"""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--slice`."""
    parser.addoption("--slice", metavar="K/N", help="only slice K of N of the files; K counts from 0")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests of other slices."""
    if not (option := config.getoption("--slice")):
        return
    number, count = map(int, option.split("/"))
    chosen = {*sorted({_unit_of(item) for item in items})[number::count]}
    config.hook.pytest_deselected(items=[item for item in items if _unit_of(item) not in chosen])
    items[:] = [item for item in items if _unit_of(item) in chosen]


def _unit_of(item: pytest.Item) -> str:
    return item.nodeid if item.get_closest_marker("apart") else item.nodeid.partition("::")[0]
