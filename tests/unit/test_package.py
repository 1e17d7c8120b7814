"""The content of the built package."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_types_scripts_guides_and_migrations(tmp_path: Path) -> None:
    """`py.typed` lets type checkers read the package's annotations (PEP 561)."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "quotecast/py.typed" in names
    assert {
        f"quotecast/{path.relative_to(ROOT / 'src/quotecast')}" for path in ROOT.glob("src/**/*.lua")
    } <= names
    assert {f"quotecast/docs/{path.name}" for path in ROOT.glob("docs/*.md")} <= names
    assert [name for name in names if name.startswith("quotecast/docs/") and not name.endswith(".md")] == []
    assert any(name.startswith("quotecast/migrations/") for name in names)
