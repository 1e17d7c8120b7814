"""What a run of tests costs: seconds, processes, slept seconds; a plug-in of pytest.

`--budget STAGE` prints the costs, and fails a run that exceeds those of the stage in `tests/budget.toml`.
"""

import multiprocessing.process
import selectors
import subprocess
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from support.runs.deadlines import slowness

_LIMITS: Final = Path(__file__).parents[2] / "budget.toml"
_MOST: Final = 20
_OUTPUT: Final = "budget"


class Cost(NamedTuple):
    """Processes started, and seconds in which the test only waited for a timer."""

    processes: float = 0
    slept: float = 0.0

    def __add__(self, other: tuple[float, ...]) -> "Cost":  # type: ignore[override]
        return Cost(self.processes + other[0], self.slept + other[1])

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.processes - other.processes, self.slept - other.slept)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--budget`."""
    parser.addoption("--budget", metavar="STAGE", help="print what the tests cost, and hold them to a stage")


def pytest_configure(config: pytest.Config) -> None:
    """Counts only if asked."""
    if stage := config.getoption("--budget"):
        config.pluginmanager.register(Budget(stage, _LIMITS), "budget of tests")


class Budget:
    """Adds up the costs of all tests, of every worker."""

    def __init__(self, stage: str, limits: Path) -> None:
        self._stage = stage
        self._limits = tomllib.loads(limits.read_text())[stage]
        self._patches = pytest.MonkeyPatch()
        self._now = Cost()
        self._costs: dict[str, Cost] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._began = time.monotonic()
        self._count()

    def pytest_unconfigure(self) -> None:
        """Stops counting."""
        self._patches.undo()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Charges a test for its fixtures too."""
        before = self._now
        try:
            return (yield)
        finally:
            self._costs[item.nodeid] = self._now - before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the seconds of a test's phase."""
        self._seconds[report.nodeid] += report.duration

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Takes the costs of a worker of xdist."""
        for test, cost in getattr(node, "workeroutput", {}).get(_OUTPUT, {}).items():
            self._costs[test] = Cost(*cost)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Reports to the controller, or judges the sum."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_OUTPUT] = {test: tuple(cost) for test, cost in self._costs.items() if any(cost)}
        elif self._complaints():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the sums, the most expensive tests and every excess."""
        total = self._total()
        terminalreporter.section(f"what stage {self._stage} costs")
        terminalreporter.write_line(
            f"{len(self._seconds)} tests, {time.monotonic() - self._began:.0f} s"
            f" ({sum(self._seconds.values()):.0f} s of tests), {total.processes:.0f} processes,"
            f" {total.slept:.0f} s slept"
        )
        terminalreporter.write_line("the longest:")
        self._print(terminalreporter, self._seconds)
        terminalreporter.write_line("those that slept longest:")
        self._print(terminalreporter, {test: cost.slept for test, cost in self._costs.items()})
        for complaint in self._complaints():
            terminalreporter.write_line(complaint, red=True)

    def _print(self, reporter: pytest.TerminalReporter, values: Mapping[str, float]) -> None:
        for test in sorted(values, key=lambda test: -values[test])[:_MOST]:
            cost = self._costs.get(test, Cost())
            seconds = f"{self._seconds[test]:6.2f} s, {cost.slept:5.2f} slept"
            reporter.write_line(f"{seconds}, {cost.processes:2.0f} processes  {test}")

    def _total(self) -> Cost:
        return sum(self._costs.values(), Cost())

    def _complaints(self) -> list[str]:
        total = self._total()
        return [
            f"The tests of stage {self._stage} spent {spent:.0f} {unit}, and their budget is {most:.0f}:"
            " see the costs of your tests by `--budget`, and make them cheaper."
            for spent, most, unit in (
                (total.processes, self._limits["processes"], "processes"),
                # Tests that look again and again sleep more where what they wait for is slow.
                (total.slept, self._limits["slept"] * slowness(), "slept seconds"),
            )
            if spent > most
        ]

    def _count(self) -> None:
        """Counts what starts processes, and waits that end by a timer."""
        self._replace(subprocess.Popen, "__init__", self._starting)
        self._replace(multiprocessing.process.BaseProcess, "start", self._starting)
        self._replace(time, "sleep", self._sleeping)
        self._replace(selectors.DefaultSelector, "select", self._sleeping)

    def _replace(
        self, owner: object, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
    ) -> None:
        self._patches.setattr(owner, name, wrap(getattr(owner, name)))

    def _starting(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def start(*arguments: Any, **more: Any) -> Any:
            self._now += (1, 0.0)
            return real(*arguments, **more)

        return start

    def _sleeping(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Counts seconds of the main thread; a selector that returns an event has waited for that instead."""
        main = threading.main_thread().ident

        def sleep(*arguments: Any, **more: Any) -> Any:
            began = time.monotonic()
            result = real(*arguments, **more)
            if not result and threading.get_ident() == main:
                self._now += (0, time.monotonic() - began)
            return result

        return sleep
