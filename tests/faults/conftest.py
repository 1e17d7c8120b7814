"""The whole service to be disturbed, and a report of what was measured beside what is promised."""

from collections.abc import Iterator

import pytest

from figures import LINES, SLACK, Figures
from whole_service import Whole, whole_service


def pytest_addoption(parser: pytest.Parser) -> None:
    """Known where the folder is named on the command line."""
    parser.addoption(
        "--strict-figures", action="store_true", help="fail by what is promised, on a machine left alone"
    )


@pytest.fixture(scope="module")
def whole() -> Iterator[Whole]:
    """Shared by the rows of one module: each leaves it as whole as it found it."""
    with whole_service() as running:
        yield running


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Its lines end up in the summary of the run."""
    lines = request.config.stash.setdefault(LINES, [])
    slack = 1.0 if request.config.getoption("--strict-figures", default=False) else SLACK
    return Figures(request.node.name.removeprefix("test_").replace("_", " "), lines, slack)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints what was measured."""
    lines = config.stash.get(LINES, [])
    if lines:
        terminalreporter.section("faults: what was measured, and what is promised")
        terminalreporter.write_line("\n".join(lines))
