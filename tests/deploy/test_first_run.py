"""The commands of README.md work in a fresh clone on a machine with Python only."""

import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docs.pages import README, blocks, curls
from support.runs.deadlines import scaled
from support.servers.fresh_clone import copy_clone, only_python, python_of, running, wait_until_serving
from support.servers.reserved import port_number, reserve_port

TEXT = README.read_text("utf-8")
[START] = blocks(TEXT, "bash")
OWN = Path(sys.executable).resolve()
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

pytestmark = [pytest.mark.deploy, pytest.mark.vital, pytest.mark.timeout(900)]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return copy_clone(tmp_path / "quotecast")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Callable[..., dict[str, str]]]:
    """Yields a function that returns the environment of a machine with one Python, and one pip."""
    with reserve_port() as held:

        def make(python: Path = OWN, pip: str = "") -> dict[str, str]:
            settings = {
                "QUOTECAST_PORT": str(port_number(held)),
                "QUOTECAST_DATA_DIR": str(tmp_path / "data"),
            }
            return {**only_python(tmp_path / "tools", python, pip=pip), **settings}

        yield make


def with_own_address(text: str, environment: dict[str, str]) -> str:
    """Returns the text with the address of this `up`."""
    return text.replace("127.0.0.1:8000", f"127.0.0.1:{environment['QUOTECAST_PORT']}")


def check_first_quotes(environment: dict[str, str]) -> None:
    """Runs the first requests of README.md."""
    for command, _ in curls(TEXT):
        done = subprocess.run(
            ["bash", "-c", with_own_address(command, environment)],  # noqa: S607 - as a user types it
            capture_output=True,
            check=True,
        )
        assert json.loads(done.stdout)["price"] > 0, command


def wait_for_page(environment: dict[str, str]) -> None:
    """Reloads the page until it is built, as the page itself does."""
    address = f"http://127.0.0.1:{environment['QUOTECAST_PORT']}/"
    while True:
        with urllib.request.urlopen(address, timeout=scaled(60)) as answer:
            body = answer.read()
        if b"<script" in body:
            return
        assert b'http-equiv="refresh"' in body
        time.sleep(0.5)


def follow_a_feed(clone: Path, environment: dict[str, str]) -> None:
    """Runs the program of README.md until it prints an update."""
    [program] = blocks(TEXT, "python")
    (clone / "first.py").write_text(with_own_address(program, environment), "utf-8")
    unbuffered = {**environment, "PYTHONUNBUFFERED": "1"}
    with running(".venv/bin/python first.py", clone, unbuffered) as process:
        assert process.stdout
        assert any(line.startswith("update {'AAPL': ") for line in process.stdout)


def test_the_first_commands_bring_the_terminal_quotes_and_a_feed(
    clone: Path, machine: Callable[..., dict[str, str]]
) -> None:
    """The first commands print a line per step without uv's and npm's output; then all others work.

    The last command starts with real upstreams, which are out of reach here: it says so, and serves.
    """
    environment = machine()
    with running(START, clone, environment) as process:
        lines = wait_until_serving(process)
        check_first_quotes(environment)
        follow_a_feed(clone, environment)
        wait_for_page(environment)
    assert len(lines) <= 40, "".join(lines)
    assert "just up --live" in TEXT
    with running(".venv/bin/just up --live", clone, {**environment, **OUT_OF_REACH}) as process:
        output = "".join(wait_until_serving(process))
    assert re.search(r"crypto +live from binance, then coinbase, then kraken", output)
    assert re.search(r"doviz +live from truncgil", output)


@pytest.mark.parametrize(
    "pip",
    [
        "--upgrade pip",
        *(
            pytest.param(f"pip=={each}", marks=pytest.mark.minutes)
            for each in ("22.0.2", "23.0.1", "23.2.1", "24.0")
        ),
    ],
)
def test_the_first_commands_work_with_every_pip(
    clone: Path, machine: Callable[..., dict[str, str]], pip: str
) -> None:
    """Debian 12, Ubuntu 22.04 and Python itself bring pips whose resolvers differ."""
    environment = machine(pip=pip)
    with running(START, clone, environment) as process:
        wait_until_serving(process)
        check_first_quotes(environment)


@pytest.mark.minutes
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_first_commands_work_with_every_python(
    clone: Path, machine: Callable[..., dict[str, str]], version: str
) -> None:
    """Each that this machine has."""
    python = python_of(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    environment = machine(python)
    with running(START, clone, environment) as process:
        wait_until_serving(process)
        check_first_quotes(environment)
