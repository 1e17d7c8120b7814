"""The page's build where there is no Node: a wheel brings it."""

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from web_files import WEB

ROOT = Path(__file__).parents[2]
#: Other than these the machine's own programs are out of reach, its Node among them.
TOOLS = ("bash", "cat", "cksum", "dirname", "env", "mkdir", "rm", "sh", "uname")

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def copy_of_sources(folder: Path) -> Path:
    """As a fresh clone has them."""
    web = folder / "src/quotecast/web"
    shutil.copytree(WEB, web, ignore=shutil.ignore_patterns("node_modules", "dist"))
    shutil.copy(ROOT / "requirements-web.txt", folder)
    return web


@pytest.mark.parametrize("installed", [(), ("node",)], ids=["nothing", "node without npm"])
def test_the_page_is_built_where_node_or_npm_is_missing(tmp_path: Path, installed: tuple[str, ...]) -> None:
    """Debian's `nodejs` brings no npm. A second build finds nothing changed."""
    web = copy_of_sources(tmp_path)
    venv.create(tmp_path / "venv", with_pip=True)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in (*TOOLS, *installed):
        (tools / name).symlink_to(shutil.which(name) or name)
    environment = {**os.environ, "PATH": str(tools), "PYTHON": str(tmp_path / "venv/bin/python")}
    built = subprocess.run([web / "build"], env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "<script" in (web / "dist/index.html").read_text("utf-8")
    assert built.stdout.splitlines()[-1] == "The terminal is built."
    again = subprocess.run([web / "build"], env=environment, capture_output=True, text=True, check=True)
    assert again.stdout == ""
