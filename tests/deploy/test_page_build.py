"""The page builds and checks itself without Node on the machine: a Python wheel has Node."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.made.web_files import WEB
from support.servers.fresh_clone import ROOT, copy_clone, only_python

pytestmark = pytest.mark.deploy


def copy_of_sources(folder: Path) -> Path:
    """Copies the sources as a fresh clone has them; returns the folder of the page."""
    return copy_clone(folder / "quotecast") / WEB.relative_to(ROOT)


def environment(folder: Path, installed: tuple[str, ...] = ()) -> dict[str, str]:
    """Returns an environment whose PATH has basic tools, uv, the named programs and a Python only."""
    python = Path(sys.executable)
    variables = only_python(folder / "tools", python.resolve())
    (folder / "tools/uv").symlink_to(python.with_name("uv"))
    for name in installed:
        (folder / "tools" / name).symlink_to(shutil.which(name) or name)
    return variables


def run(command: Path, variables: dict[str, str]) -> str:
    """Returns the output of a script; fails if the script does."""
    done = subprocess.run([command], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_twice(web: Path, variables: dict[str, str]) -> None:
    """Builds the page; a second build finds nothing to do."""
    assert run(web / "build", variables).splitlines()[-1] == "The terminal is built."
    assert "<script" in (web / "dist/index.html").read_text("utf-8")
    assert run(web / "build", variables) == ""


def test_the_page_is_built_and_checked_where_node_is_missing(tmp_path: Path) -> None:
    """The build needs no package of the checks, and leaves those that are installed.

    The check refuses an import cycle, of types too.
    """
    web = copy_of_sources(tmp_path)
    variables = environment(tmp_path)
    build_twice(web, variables)
    linter = web / "node_modules/@biomejs"
    assert not linter.exists()
    run(web / "check", variables)
    run(web / "build", variables)
    assert linter.exists()
    words = web / "page/words-en.ts"
    words.write_text('import type { Language } from "./words.ts";\n\n' + words.read_text("utf-8"), "utf-8")
    refused = subprocess.run([web / "check"], env=variables, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "noImportCycles" in refused.stderr


def test_the_page_is_built_where_npm_is_missing(tmp_path: Path) -> None:
    """As with Debian's `nodejs`."""
    build_twice(copy_of_sources(tmp_path), environment(tmp_path, ("node",)))
