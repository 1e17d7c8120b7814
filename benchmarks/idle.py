"""`python -m benchmarks.idle [SETTLED_SECONDS]`: memory and CPU of `quotecast up` that nobody uses.

It starts `up` with its defaults in an empty folder, waits until it is settled (by default for a minute), and
measures for a minute. Memory is the proportional set size: each process has an equal part of shared pages.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.processes import cpu_seconds, family, resident_bytes

MEASURED_SECONDS: Final = 60.0


async def main(settled_seconds: float) -> None:
    """Prints the figures of each process, and their sums."""
    with tempfile.TemporaryDirectory(prefix="qc") as data:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "quotecast", "up", "--no-build"),
            env={**os.environ, "QUOTECAST_DATA_DIR": data},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            assert process.stdout
            async for line in process.stdout:
                if line.startswith(b"Ctrl-C"):
                    break
            await asyncio.sleep(settled_seconds)
            await _measure(process.pid)
        finally:
            process.terminate()
            await process.wait()


async def _measure(pid: int) -> None:
    pids = family(pid)
    before = [cpu_seconds([each]) for each in pids]
    await asyncio.sleep(MEASURED_SECONDS)
    used = [cpu_seconds([each]) - past for each, past in zip(pids, before, strict=True)]
    lines = [_line(resident_bytes([each]), cpu, _name(each)) for each, cpu in zip(pids, used, strict=True)]
    lines.append(_line(resident_bytes(pids), sum(used), f"all {len(pids)} processes"))
    sys.stdout.write("\n".join(lines) + "\n")


def _line(resident: int, cpu: float, name: str) -> str:
    return f"{resident / 2**20:6.0f} MB {cpu / MEASURED_SECONDS:7.2%} of a core  {name}"


def _name(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").split()
    return " ".join(words[2:4]) if "quotecast" in words else Path(words[0]).name


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0))
