"""A fresh clone of the repository on a machine with Python only, and the Pythons of this machine."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
#: Programs that every system has; `just`, uv, pip and Node are out of reach.
TOOLS: Final = (
    *(
        "bash",
        "cat",
        "cksum",
        "cp",
        "dirname",
        "env",
        "find",
        "ln",
        "mkdir",
        "mv",
        "realpath",
        "rm",
        "sh",
        "sort",
    ),
    *("uname", "xargs"),
)
#: What git tracks and a start needs.
_PARTS: Final = (
    *("src", "clients", "docs", "migrations", "requirements"),
    *("CHANGELOG.md", "justfile", "pyproject.toml", "README.md", "LICENSE"),
)
_MADE: Final = shutil.ignore_patterns("node_modules", "dist", "dist.new", "__pycache__")
#: Answers `-m venv FOLDER` as Python does, but with another pip; PYTHON and PIP are filled in.
_WITH_PIP: Final = """#!/bin/sh
PYTHON "$@" || exit
if [ "$1 $2" = "-m venv" ]; then
    "$3/bin/python" -m pip install --quiet --disable-pip-version-check PIP
fi
"""


def copy_clone(folder: Path) -> Path:
    """Copies the files that git tracks and a start needs; returns the folder."""
    for name in _PARTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=_MADE)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def only_python(folder: Path, python: Path, *, pip: str = "") -> dict[str, str]:
    """Returns an environment whose PATH has basic tools and `python` as python3 only.

    `pip` is a requirement, such as `pip==23.2.1`, for the pip of new virtual environments.
    """
    folder.mkdir()
    for name in TOOLS:
        (folder / name).symlink_to(shutil.which(name) or name)
    program = folder / "python3"
    if pip:
        program.write_text(_WITH_PIP.replace("PYTHON", str(python)).replace("PIP", pip), "utf-8")
        program.chmod(0o755)
    else:
        program.symlink_to(python)
    kept = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHON"}}
    return {**kept, "PATH": f"{folder}:/usr/sbin"}


def python_of(version: str) -> Path | None:
    """Returns this machine's Python of a version, such as 3.12; None without one."""
    own = Path(sys.executable).resolve()
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return own
    # A version manager may show a command whose Python it does not run.
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *map(str, managed.glob(f"{version}.*/bin/python3"))]
    for path in filter(None, found):
        if subprocess.run([path, "-c", "import venv"], check=False, capture_output=True).returncode == 0:
            return Path(path).resolve()
    return None


@contextlib.contextmanager
def running(command: str, folder: Path, environment: Mapping[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Runs a command in a folder as a user types it, and ends all its processes."""
    process = subprocess.Popen(
        ["bash", "-e", "-c", command],  # noqa: S607 - as a user types it
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.communicate()


def output_of(command: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Returns the exit code and the output of a command that ends by itself."""
    with running(command, folder, environment) as process:
        assert process.stdout
        output = process.stdout.read()
        return process.wait(), output


def wait_until_serving(process: "subprocess.Popen[str]") -> list[str]:
    """Waits until `up` serves; returns its output so far."""
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("Ctrl-C"):
            return lines
    pytest.fail("".join(lines))
