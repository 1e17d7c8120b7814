"""`quotecast up` as a process, with its child processes."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.runs.deadlines import scaled
from support.servers.reserved import port_number, reserve_port


class Up:
    """A running `quotecast up`; `starter` is the command that starts it, such as nohup."""

    def __init__(self, data: Path, *starter: str, scenarios: Sequence[str] = (), **settings: str) -> None:
        self._reserved = reserve_port()
        self.port = port_number(self._reserved)
        environment = {
            "QUOTECAST_DATA_DIR": str(data),
            "QUOTECAST_PORT": str(self.port),
            "QUOTECAST_WORKERS": "2",
            **{f"QUOTECAST_{name.upper()}": value for name, value in settings.items()},
        }
        options = [part for text in scenarios for part in ("--scenario", text)]
        self.process = subprocess.Popen(
            [*starter, sys.executable, "-m", "quotecast", "up", "--no-build", *options],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.output: list[str] = []
        self.pids: dict[str, int] = {}

    def wait_until_it_serves(self) -> None:
        assert self.process.stdout
        assert self.process.stderr
        for line in self.process.stdout:
            self.output.append(line)
            if found := re.match(r"(.{9}) pid (\d+) ", line):
                self.pids[found[1].strip()] = int(found[2])
            if line.startswith("Ctrl-C"):
                return
        pytest.fail("".join(self.output) + self.process.stderr.read())

    def wait_for_death(self, part: str) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            if re.match(rf"{part:<9} \| ended with .*; starts again in ", line):
                return
        pytest.fail(f"{part} did not end, but `up` did")

    def wait_for_restart(self, part: str) -> None:
        old = self.pids[part]
        assert self.process.stdout
        assert self.process.stderr
        for line in self.process.stdout:
            if found := re.match(rf"{part:<9} pid (\d+) ", line):
                self.pids[part] = int(found[1])
                break
        else:
            pytest.fail(f"`up` ended: {self.process.stderr.read()}")
        assert self.pids[part] != old

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=scaled(10)) as answer:
            return json.load(answer)

    def kill_everything(self) -> None:
        """Kills all child processes that are left."""
        for pid in [self.process.pid, *self.pids.values()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.communicate()
        self._reserved.close()


@contextlib.contextmanager
def running_up(data: Path, **settings: str) -> Iterator[Up]:
    """Yields a serving `up`; kills what is left at the end."""
    up = Up(data, **settings)
    try:
        up.wait_until_it_serves()
        yield up
    finally:
        up.kill_everything()
