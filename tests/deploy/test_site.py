"""`just docs` builds the pages of docs/ as a site that needs no other host."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(300)]


def test_it_builds_without_a_warning_and_loads_nothing_from_other_hosts() -> None:
    """The build prints no warning, has every page, and loads scripts, styles and fonts from the site only."""
    done = subprocess.run(["just", "docs"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "Warning" not in output
    assert "No issues found" in output
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("")
        built = SITE / (name.parent if name.name == "index" else name) / "index.html"
        text = built.read_text("utf-8")
        assert re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="?(?:https?:)?//', text) == [], name
