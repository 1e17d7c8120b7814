"""The commands of README.md work in a fresh clone on a machine with Python only."""

import contextlib
import json
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

from docs.pages import blocks, curls
from support.reserved import port_number, reserve_port

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
#: Programs that every system has; `just`, pip and Node are out of reach.
TOOLS = ("bash", "cat", "cksum", "dirname", "env", "find", "mkdir", "rm", "sh", "sort", "uname", "xargs")
PARTS = (
    "src",
    "clients",
    "docs",
    "migrations",
    "CHANGELOG.md",
    "justfile",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
REQUIREMENTS = ("requirements-dev.txt", "requirements-web.txt")
#: A proxy address at which nobody listens, so that upstreams are out of reach.
UPSTREAMS = ("BINANCE", "COINBASE", "KRAKEN")
OUT_OF_REACH = {
    **{
        f"QUOTECAST_{name}_URL": "http://127.0.0.1:9"
        for name in (*UPSTREAMS, "TCMB", "TRUNCGIL", "TRUNCGIL_V5")
    },
    **{f"QUOTECAST_{name}_WEBSOCKET_URL": "ws://127.0.0.1:9" for name in UPSTREAMS},
    "QUOTECAST_GENELPARA_URL": "http://127.0.0.1:9",
}

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(900)]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Copies the files that git tracks and the first run needs."""
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
    with reserve_port() as held:
        yield {
            **os.environ,
            "PATH": f"{tools}:/usr/sbin",
            "QUOTECAST_PORT": str(port_number(held)),
            "QUOTECAST_DATA_DIR": str(tmp_path / "data"),
        }


@contextlib.contextmanager
def running(command: str, clone: Path, environment: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Runs a command of README.md as a user types it."""
    process = subprocess.Popen(
        ["bash", "-e", "-c", command],  # noqa: S607 - as a user types it
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


def wait_until_serving(process: "subprocess.Popen[str]") -> list[str]:
    """Waits until `up` serves; returns its output so far."""
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("Ctrl-C"):
            return lines
    pytest.fail("".join(lines))


def with_own_address(text: str, environment: dict[str, str]) -> str:
    """Returns the text with the address of this `up`."""
    return text.replace("127.0.0.1:8000", f"127.0.0.1:{environment['QUOTECAST_PORT']}")


def follow_a_feed(clone: Path, environment: dict[str, str]) -> None:
    """Runs the program of README.md until it prints an update."""
    [program] = blocks(README, "python")
    (clone / "first.py").write_text(with_own_address(program, environment), "utf-8")
    unbuffered = {**environment, "PYTHONUNBUFFERED": "1"}
    with running(".venv/bin/python first.py", clone, unbuffered) as process:
        assert process.stdout
        assert any(line.startswith("update {'AAPL': ") for line in process.stdout)


def test_the_first_commands_bring_the_terminal_quotes_and_a_feed(
    clone: Path, environment: dict[str, str]
) -> None:
    """The first commands print a line per step without pip's and npm's output; then all others work.

    The last command starts with real upstreams, which are out of reach here: it says so, and serves.
    """
    [first] = blocks(README, "bash")
    with running(first, clone, environment) as process:
        lines = wait_until_serving(process)
        address = f"http://127.0.0.1:{environment['QUOTECAST_PORT']}/"
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert b"<script" in answer.read()
        for command, _ in curls(README):
            done = subprocess.run(
                ["bash", "-c", with_own_address(command, environment)],  # noqa: S607 - as a user types it
                capture_output=True,
                check=True,
            )
            assert json.loads(done.stdout)["price"] > 0, command
        follow_a_feed(clone, environment)
    assert len(lines) <= 40, "".join(lines)
    assert "just up --live" in README
    with running(".venv/bin/just up --live", clone, {**environment, **OUT_OF_REACH}) as process:
        output = "".join(wait_until_serving(process))
    assert re.search(r"crypto +live from binance, then coinbase, then kraken", output)
    assert re.search(r"doviz +live from truncgil", output)


def test_an_installation_that_fails_says_why(clone: Path, environment: dict[str, str]) -> None:
    """A failed installation prints pip's own error and starts nothing."""
    wrong = f"msgspec==0.21.0 --hash=sha256:{'0' * 64}\n"
    (clone / "requirements-dev.txt").write_text(wrong, "utf-8")
    [first] = blocks(README, "bash")
    with running(first, clone, environment) as process:
        assert process.stdout
        output = process.stdout.read()
        assert process.wait() != 0
    assert "DO NOT MATCH THE HASHES" in output
    assert "Ctrl-C" not in output
