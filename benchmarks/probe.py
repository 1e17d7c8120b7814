"""`python -m benchmarks.probe PORT SECONDS PER_SECOND PATH CODING`: latency of a path over one connection.

Prints milliseconds, bytes of an answer and the number of 304s as JSON. Every other request has the last
answer's ETag where CODING ends in `+tag`.
"""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, convert

from benchmarks.processes import LOAD_CORE

TAGGED: Final = "+tag"


class ProbeResult(Struct):
    """Milliseconds from a request to the last byte of its answer."""

    requests: int
    p50: float
    p99: float
    longest: float
    bytes: int
    not_modified: int


class Probe:
    """A running probe; it has a process of its own, so that several do not wait for each other."""

    def __init__(
        self, port: int, seconds: float, per_second: float, path: str, coding: str = "identity"
    ) -> None:
        arguments = [str(port), f"{seconds:g}", f"{per_second:g}", path, coding]
        command = ["taskset", "-c", str(LOAD_CORE), sys.executable, "-m", "benchmarks.probe", *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)

    def result(self) -> ProbeResult:
        """Waits for the end and returns what was measured."""
        output, _ = self._process.communicate()
        if self._process.returncode:
            raise RuntimeError("the probe failed")
        return convert(json.loads(output), ProbeResult)


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the value that a share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _measure(port: int, seconds: float, per_second: float, path: str, coding: str) -> ProbeResult:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    taken: list[float] = []
    size, unchanged, tag = 0, 0, ""
    began = time.monotonic()
    while (due := began + len(taken) / per_second) < began + seconds:
        time.sleep(max(0.0, due - time.monotonic()))
        headers = {"Accept-Encoding": coding.removesuffix(TAGGED)}
        if tag and len(taken) % 2:
            headers["If-None-Match"] = tag
        sent = time.monotonic()
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read()
        taken.append((time.monotonic() - sent) * 1000)
        if response.status not in {200, 304}:
            raise RuntimeError(f"{path} answered {response.status}")
        unchanged += response.status == 304
        size = max(size, len(body))
        tag = response.headers.get("ETag", "") if coding.endswith(TAGGED) else ""
    taken = taken[1:] or taken
    return ProbeResult(
        len(taken), percentile(taken, 0.5), percentile(taken, 0.99), max(taken), size, unchanged
    )


def _main() -> None:
    port, seconds, per_second, path, coding = sys.argv[1:]
    result = _measure(int(port), float(seconds), float(per_second), path, coding)
    sys.stdout.write(json.dumps({name: getattr(result, name) for name in result.__struct_fields__}))


if __name__ == "__main__":
    _main()
