"""A simulated vendor as a process, and the vendors' usual clients as scripts of their own environment."""

import contextlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

ROOT: Final = Path(__file__).parents[3]
CLIENTS: Final = ROOT / "tests/vendors/clients"
NPM: Final = ROOT / "tests/vendors/npm"
PYTHON: Final = ROOT / ".venv-vendors/bin/python"
#: Seconds that a client's script may take on a slow machine.
SCRIPT_SECONDS: Final = 90


@dataclass(frozen=True)
class SimulatedVendor:
    """The addresses of a running vendor."""

    url: str
    websocket_url: str


@contextlib.contextmanager
def simulated_vendor(name: str, *arguments: str) -> Iterator[SimulatedVendor]:
    """Runs `quotecast simulate` on a free port."""
    command = [sys.executable, "-m", "quotecast", "simulate", name, "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            found = re.search(r"(http://\S+?),? .*?(ws://\S+?),? ", line)
            assert found, f"no addresses in {line!r}"
            yield SimulatedVendor(found[1], found[2])
        finally:
            process.terminate()


def run_python(script: str, *arguments: str) -> Any:
    """Runs a script of tests/vendors/clients in the clients' environment; returns the JSON that it prints."""
    return _run([str(PYTHON), str(CLIENTS / script), *arguments])


def run_node(script: str, *arguments: str) -> Any:
    """Runs a script of tests/vendors/npm; returns the JSON that it prints."""
    return _run(node(str(NPM / script), *arguments))


def node(*arguments: str) -> list[str]:
    """Returns the command that runs Node, that of the machine or of a Python wheel."""
    npm = ROOT / "src/quotecast/web/npm"
    return [str(npm), "--prefix", str(NPM), "exec", "--call", shlex.join(["node", *arguments])]


def _run(command: list[str]) -> Any:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SCRIPT_SECONDS,
        check=False,
    )
    assert not done.returncode, done.stderr[-3000:] or done.stdout[-3000:]
    return msgspec.json.decode(done.stdout.splitlines()[-1])
