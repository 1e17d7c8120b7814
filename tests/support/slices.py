"""A part of the long tests: `--slice 3/13`; a plug-in of pytest.

Files of the run are dealt out to slices of about the same length, by the seconds in `durations-long.json`.
"""

import heapq
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

_DURATIONS: Final = Path(__file__).parents[1] / "durations-long.json"
#: Of a file that is new.
_USUAL_SECONDS: Final = 10.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--slice`."""
    parser.addoption("--slice", metavar="K/N", help="only the files of slice K of N; K counts from 0")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests of other slices."""
    if not (option := config.getoption("--slice")):
        return
    number, count = map(int, option.split("/"))
    files = sorted({_file_of(item) for item in items})
    chosen = deal(files, json.loads(_DURATIONS.read_text("utf-8")), count)[number]
    others = [item for item in items if _file_of(item) not in chosen]
    items[:] = [item for item in items if _file_of(item) in chosen]
    config.hook.pytest_deselected(items=others)


def deal(files: Sequence[str], seconds: Mapping[str, float], count: int) -> list[set[str]]:
    """Returns the files of each slice: the longest first, each to the slice that is shortest so far."""
    slices: list[set[str]] = [set() for _ in range(count)]
    heap = [(0.0, number) for number in range(count)]
    for file in sorted(files, key=lambda each: (-seconds.get(each, _USUAL_SECONDS), each)):
        length, number = heapq.heappop(heap)
        slices[number].add(file)
        heapq.heappush(heap, (length + seconds.get(file, _USUAL_SECONDS), number))
    return slices


def _file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]
