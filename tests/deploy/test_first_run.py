"""The README's first line in a fresh clone, where there is Python and nothing else."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from reserved import port_number, reserved

ROOT = Path(__file__).parents[2]
#: What every system has; `just`, pip and Node are out of reach.
TOOLS = ("bash", "cat", "cksum", "dirname", "env", "mkdir", "rm", "sh", "uname")
PARTS = ("src", "migrations", "justfile", "pyproject.toml", "README.md", "LICENSE")
REQUIREMENTS = ("requirements-dev.txt", "requirements-web.txt")

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(900)]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the first run needs of the repository, as git has it."""
    folder = tmp_path / "quotecast"
    ignored = shutil.ignore_patterns("node_modules", "dist", "__pycache__")
    for name in (*PARTS, *REQUIREMENTS):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name) or name)
    (tools / "python3").symlink_to(Path(sys.executable).resolve())
    with reserved() as held:
        yield {
            **os.environ,
            "PATH": f"{tools}:/usr/sbin",
            "QUOTECAST_PORT": str(port_number(held)),
            "QUOTECAST_DATA_DIR": str(tmp_path / "data"),
        }


@contextlib.contextmanager
def first_line(clone: Path, environment: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Runs what the README says to type first."""
    found = re.search(r"^    (.*just up)$", (clone / "README.md").read_text("utf-8"), re.MULTILINE)
    assert found
    process = subprocess.Popen(
        ["bash", "-c", found[1]],  # noqa: S607 - as a user types it
        cwd=clone,
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


def test_it_serves_the_terminal_and_says_one_line_for_each_step(
    clone: Path, environment: dict[str, str]
) -> None:
    """Steps, parts, addresses and what ingest logs; nothing of what pip and npm would like to say."""
    with first_line(clone, environment) as process:
        assert process.stdout
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if line.startswith("Ctrl-C"):
                break
        address = f"http://127.0.0.1:{environment['QUOTECAST_PORT']}/"
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert b"<script" in answer.read()
    assert len(said) <= 40, "".join(said)


def test_an_installation_that_fails_says_why(clone: Path, environment: dict[str, str]) -> None:
    """In pip's own words, and nothing is started."""
    wrong = f"msgspec==0.21.0 --hash=sha256:{'0' * 64}\n"
    (clone / "requirements-dev.txt").write_text(wrong, "utf-8")
    with first_line(clone, environment) as process:
        assert process.stdout
        said = process.stdout.read()
        assert process.wait() != 0
    assert "DO NOT MATCH THE HASHES" in said
    assert "Ctrl-C" not in said
