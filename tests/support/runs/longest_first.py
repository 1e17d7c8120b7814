"""The longest files of tests start first, so that all workers end together; a plug-in of pytest.

`tests/durations.json` has the seconds of files that take more than a few; `--write-durations` writes it.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

_TESTS: Final = Path(__file__).parents[2]
_DURATIONS: Final = _TESTS / "durations.json"
_SHORT_SECONDS: Final = 1.0
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
    """Sorts files for workers of xdist; a single process keeps the order of names."""
    if hasattr(config, "workerinput"):
        seconds: dict[str, float] = json.loads(_DURATIONS.read_text())
        for folder in _TOGETHER:
            files = [file for file in seconds if file.startswith(folder)]
            seconds[folder] = sum(seconds[file] for file in files)
        items.sort(key=lambda item: -seconds.get(_place_of(item.nodeid), 0.0))


class _Durations:
    """Adds up the seconds of each file."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[_file_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        ordered = sorted(self._seconds.items(), key=lambda pair: -pair[1])
        long = {file: round(seconds, 1) for file, seconds in ordered if seconds > _SHORT_SECONDS}
        _DURATIONS.write_text(json.dumps(long, indent=1) + "\n")


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _place_of(test: str) -> str:
    return next((folder for folder in _TOGETHER if test.startswith(folder)), _file_of(test))
