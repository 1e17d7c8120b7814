"""README.md is short, its figures are measurements, and a test runs each of its commands."""

import re

import pytest

from docs.pages import README, ROOT, blocks, code, curls, page

TEXT = README.read_text("utf-8")
INSTALL = "python3 -m venv .venv && .venv/bin/pip install --quiet --require-hashes -r requirements/tools.txt"
#: The test that runs each command.
RUN_BY = {
    INSTALL: "tests/deploy/test_first_run.py",
    ".venv/bin/just up": "tests/deploy/test_first_run.py",
    ".venv/bin/python first.py": "tests/deploy/test_first_run.py",
    "just up --live": "tests/deploy/test_first_run.py",
    "just bench --only P4": "tests/deploy/test_figures.py",
    "just bench --only P3": "tests/deploy/test_figures.py",
    "just bench --only P8": "tests/deploy/test_figures.py",
    "just bench --only P1": "tests/deploy/test_figures.py",
    "just docs": "tests/deploy/test_site.py",
    **{command: "tests/deploy/test_first_run.py" for command, _ in curls(TEXT)},
}
#: Beginnings of the code lines that a reader types.
COMMANDS = ("just ", "curl ", "python", ".venv/bin/")


def test_it_is_short() -> None:
    """README.md has at most 150 lines; all else is a page of docs/."""
    assert len(TEXT.splitlines()) <= 150


def test_each_command_is_run_by_a_test() -> None:
    """A new command in README.md needs a test, and a line in RUN_BY."""
    shown = {line.removeprefix("$ ") for line in code(TEXT).splitlines()}
    packages = {"python3", "python3-venv"}
    assert {line for line in shown if line.startswith(COMMANDS)} - packages == {*RUN_BY}


@pytest.mark.parametrize(("command", "file"), RUN_BY.items())
def test_the_test_of_a_command_is_there(command: str, file: str) -> None:
    """The test names the command, or reads it from README.md."""
    text = (ROOT / file).read_text("utf-8")
    assert command in text or "README" in text


def in_two_digits(number: str) -> str:
    """Returns a number with two digits that count: 17,000,000 for 16,954,501."""
    rounded = float(f"{float(number.replace(',', '')):.1e}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


@pytest.mark.parametrize("figure", ["P4", "P3", "P8", "P1"])
def test_figures_are_medians_of_the_benchmarks(figure: str) -> None:
    """README.md has the medians of docs/benchmarks.md, once each, to two digits."""
    row = re.search(rf"^\| {figure} \| quotecast \| \S+ \| (\S+) \|", page("benchmarks"), re.MULTILINE)
    assert row
    shown = in_two_digits(row[1])
    assert TEXT.count(shown) == 1, f"{figure} has a median of {row[1]}"
    assert re.search(rf"\| {re.escape(shown)}[^|]*\| `just bench --only {figure}` \|", TEXT)


def test_its_program_is_whole() -> None:
    """README.md has one program, which test_blocks.py runs."""
    assert len(blocks(TEXT, "python")) == 1
