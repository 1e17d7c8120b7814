"""The load test for k6 as a script for Node; k6 itself is not among our dependencies."""

import subprocess
from pathlib import Path

import pytest

from support.servers.simulated_vendor import ROOT, node

pytestmark = pytest.mark.vendors


def test_the_script_is_a_module(tmp_path: Path) -> None:
    """Node reads it."""
    path = tmp_path / "k6.mjs"
    path.write_text((ROOT / "loadtests/k6.js").read_text("utf-8"), "utf-8")
    subprocess.run(node("--check", str(path)), check=True)
