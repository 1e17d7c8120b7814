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

import httpx
import msgspec

from support.clients.plain_http import NO_TLS
from support.runs.deadlines import scaled

ROOT: Final = Path(__file__).parents[3]
CLIENTS: Final = ROOT / "tests/vendors/clients"
NPM: Final = ROOT / "tests/vendors/npm"
PYTHON: Final = ROOT / ".venv-vendors/bin/python"
#: Seconds that a client's script may take on a slow machine.
SCRIPT_SECONDS: Final = 90


@dataclass(frozen=True)
class SimulatedVendor:
    """The addresses of a running vendor, and its control route."""

    url: str
    websocket_url: str
    control_url: str
    control_token: str

    def begin(self, scenario: str, **parameters: Any) -> None:
        """Starts a scenario."""
        self._control("POST", {"name": scenario, **parameters})

    def end_scenarios(self) -> None:
        self._control("DELETE", None)

    def _control(self, method: str, body: Any) -> None:
        headers = {"Authorization": f"Bearer {self.control_token}"}
        answer = httpx.request(
            method, self.control_url, json=body, headers=headers, timeout=scaled(5), verify=NO_TLS
        )
        assert answer.is_success, answer.text


@contextlib.contextmanager
def simulated_vendor(name: str, *arguments: str) -> Iterator[SimulatedVendor]:
    """Runs `quotecast simulate` on a free port."""
    ports = ("--port", "0", "--control-port", "0")
    command = [sys.executable, "-m", "quotecast", "simulate", name, *ports, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            pattern = r"(http://\S+?),? .*?(ws://\S+?),? .*; control at (\S+) with token (\S+)"
            found = re.search(pattern, line)
            assert found, f"no addresses in {line!r}"
            yield SimulatedVendor(*found.groups())
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
