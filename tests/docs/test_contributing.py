"""CONTRIBUTING.md and docs/architecture.md describe the code as it is."""

import re
from pathlib import Path

import pytest

from docs.pages import ROOT, blocks, page

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PACKAGE = ROOT / "src" / "quotecast"
#: Modules that the recipes would add.
EXAMPLES = {"api/routes/alerts/alerts.py", "api/routes/market/bonds.py", "tests/fakes/acme.py"}


def folders_in(text: str) -> set[str]:
    """Returns the folders in the first column of the table of folders."""
    _, _, table = text.partition("| folder |")
    cells = re.findall(r"^\| (`[a-z/]+/`(?:, `[a-z/]+/`)*) \|", table, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([a-z/]+)/`", cell)}


def top_folders() -> set[str]:
    return {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}


def test_the_example_test_exists() -> None:
    """The example test in the page exists, word for word."""
    [shown] = blocks(TEXT, "python")
    assert any(shown in path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("text", [TEXT, page("architecture")], ids=["CONTRIBUTING", "architecture"])
def test_the_rooms_are_the_folders(text: str) -> None:
    """The tables list every folder of the package; the subfolders that they name exist."""
    named = folders_in(text)
    assert {name for name in named if "/" not in name} == top_folders()
    assert [name for name in named if not (PACKAGE / name).is_dir()] == []


def test_the_files_of_the_recipes_exist() -> None:
    """Every file in the recipes exists, except those that a recipe adds."""
    named = {Path(name) for name in re.findall(r"`((?:[a-z]+/)*[a-z_]+\.py)`", TEXT)}
    files = {str(path) for path in named if len(path.parts) > 1}
    assert sorted(name for name in files - EXAMPLES if not (PACKAGE / name).is_file()) == []
