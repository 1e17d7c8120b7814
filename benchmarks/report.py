"""Reports of measurements, as a table and a plot."""

import json
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median, median_low
from typing import Any, Final

from msgspec import Struct

from benchmarks.figures import OURS, Figure, Goal, bytes_per_quote_of, listeners_of, with_everything

HERE: Final = Path(__file__).parent
PAGE: Final = HERE.parent / "docs" / "benchmarks.md"
RESULTS: Final = HERE / "results.json"
PLOT: Final = PAGE.with_suffix(".png")
#: `write` replaces the part of the page between these two lines.
BEGIN: Final = "<!-- results -->\n"
END: Final = "<!-- end of results -->"
#: The part of a written ratio below which a new one has fallen: a single round varies by a tenth.
FALLEN: Final = 0.85
IMAGE: Final = "![The figures as bars](benchmarks.png)\n"


class Measurement(Struct, frozen=True):
    """Values of a figure: by contender, one for each round."""

    figure: Figure
    values: dict[str, list[float]]


def ratios(measured: Measurement, goal: Goal) -> list[float]:
    """Returns the ratio of ours to the peer's by round; a peer's load may have been lighter."""
    return [ours / their for ours, their in zip(*map(measured.values.__getitem__, _names(goal)), strict=True)]


def fallen(results: Sequence[Measurement]) -> list[str]:
    """Returns a line for each median ratio that is 15 % or more below the one in results.json."""
    written: Mapping[str, dict[str, list[float]]] = json.loads(RESULTS.read_text())
    lines = []
    for measured in results:
        before = Measurement(measured.figure, written.get(measured.figure.name, {}))
        for goal in measured.figure.goals:
            if not {*_names(goal)} <= before.values.keys():
                continue
            now, then = (median(ratios(each, goal)) for each in (measured, before))
            if now <= FALLEN * then:
                lines.append(f"{measured.figure.name}: {now:.2f} x {goal.peer}, where it was {then:.2f} x\n")
    return lines


def goal_rows(measured: Measurement) -> list[str]:
    """Returns the figure's rows of the table: ours against its goals."""
    figure = measured.figure
    own = _format_spread(measured.values[OURS])
    rows = []
    for goal in figure.goals:
        found = ratios(measured, goal)
        lighter = measured.values.get(listeners_of(goal.peer))
        name = f"{goal.peer} ({median_low(lighter):g} listeners)" if lighter else goal.peer
        name += ", counting everything" if goal.everything else ""
        met = found and median(found) >= goal.least
        rows.append((f"{_format_spread(found)} x {name}", f">= {goal.least:g} x", met))
    if figure.at_most is not None:
        rows.append((own, f"<= {figure.at_most:g}", median(measured.values[OURS]) <= figure.at_most))
    if figure.at_least is not None:
        rows.append((own, f">= {figure.at_least:g}", median(measured.values[OURS]) >= figure.at_least))
    start = f"| {figure.name} | {figure.what} | {own} {figure.unit}"
    return [f"{start} | {found} | {goal} | {'yes' if met else '**no**'} |" for found, goal, met in rows]


def table(results: Sequence[Measurement]) -> str:
    """Returns all figures in Markdown: goals first, then each contender's values."""
    lines = [
        "| | figure | ours | measured against its goal | goal | met |",
        "|---|---|---|---|---|---|",
        *(line for measured in results for line in goal_rows(measured)),
        "",
        "| | contender | min | median | max | unit | counting everything | bytes on the wire per quote |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for measured in results:
        lines += [
            f"| {measured.figure.name} | {name} | {_number(min(values))} | {_number(median(values))} | "
            f"{_number(max(values))} | {_unit(measured.figure, name)} | "
            f"{_median(measured, with_everything(name))} | {_median(measured, bytes_per_quote_of(name))} |"
            for name, values in measured.values.items()
            if not name.startswith((bytes_per_quote_of(""), with_everything("")))
        ]
    return "\n".join(lines) + "\n"


def machine() -> str:
    """Returns the machine, and the versions of the contenders."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    ours = [f"{name} {version(name)}" for name in ("granian", "litestar", "msgspec", "uvloop")]
    when = f"{datetime.now(UTC):%Y-%m-%d} with commit {_output_of('git', 'rev-parse', '--short', 'HEAD')}"
    lines = [
        f"Measured on {when}, {model[1] if model else platform.machine()}, Linux {platform.release()}.",
        f"Python {platform.python_version()}, {', '.join(ours)}.",
        f"Peers: {', '.join(_peers())}.",
    ]
    return "\n".join(lines) + "\n"


def write(results: Sequence[Measurement], rounds: int, seconds: float) -> None:
    """Writes the table and the plot into docs/, the values into results.json."""
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    facts = f"{machine()}{rounds} rounds of {seconds:g} s each; every cell is min / median / max.\n\n"
    PAGE.write_text(f"{head}{BEGIN}{facts}{table(results)}\n{IMAGE}{END}{tail}")
    values = {measured.figure.name: measured.values for measured in results}
    RESULTS.write_text(json.dumps(values, indent=1) + "\n")
    python = HERE.parent / ".venv-bench" / "bin" / "python"
    subprocess.run([python, str(HERE / "plot.py"), str(RESULTS), str(PLOT)], check=True)


def _names(goal: Goal) -> tuple[str, ...]:
    """Returns the keys of the values that a goal compares."""
    return tuple(with_everything(name) if goal.everything else name for name in (OURS, goal.peer))


_OWN_UNITS: Final = {
    "holes", "served", "kilobytes each", "share of a core", "megabytes", "requests per second",
}  # fmt: skip


def _format_spread(values: Sequence[float]) -> str:
    if not values:
        return "not measured"
    return " / ".join(_number(value) for value in (min(values), median(values), max(values)))


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _peers() -> list[str]:
    names = ["fastapi", "uvicorn", "litestar", "granian"]
    python = HERE.parent / ".venv-bench" / "bin" / "python"
    code = (
        "import sys; from importlib.metadata import version; "
        "print(', '.join(f'{name} {version(name)}' for name in sys.argv[1:]))"
    )
    packages: Mapping[str, Any] = json.loads((HERE / "peers" / "package.json").read_text())["dependencies"]
    nchan = _output_of("dpkg-query", "-W", "-f", "${Version}", "libnginx-mod-nchan")
    return [
        _output_of(str(python), "-c", code, *names),
        f"Node {_output_of('node', '--version')}",
        *(f"{name} {number}" for name, number in packages.items()),
        f"nchan {nchan}",
        _output_of("wrk", "-v").splitlines()[0].partition(" [")[0],
    ]


def _output_of(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip()


def _median(measured: Measurement, key: str) -> str:
    found = measured.values.get(key)
    return _number(median(found)) if found else ""


def _unit(figure: Figure, name: str) -> str:
    return "" if name in _OWN_UNITS or name.startswith(listeners_of("")) else figure.unit
