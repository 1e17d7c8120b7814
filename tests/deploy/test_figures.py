"""The commands for figures in README.md work."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(900)]


@pytest.mark.parametrize("command", re.findall(r"`(just bench --only (?:\w+))` \|", README))
def test_a_figure_is_measured(command: str) -> None:
    """One short round prints a table with a row of quotecast for the figure."""
    short = [*command.split(), "--rounds", "1", "--seconds", "1"]
    done = subprocess.run(short, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^\| {command.rsplit(maxsplit=1)[-1]} \| quotecast \| ", done.stdout, re.MULTILINE)
