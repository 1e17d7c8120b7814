"""The commands on accounts run as processes, with the settings of a test."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from typing import Any


async def start(*arguments: str | bytes, settings: dict[str, str], of: str = "users", **more: Any) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quotecast", of, *arguments),
        env={**os.environ, **{f"QUOTECAST_{name.upper()}": value for name, value in settings.items()}},
        **{"stdin": PIPE, "stdout": PIPE, "stderr": PIPE, **more},
    )


async def command(
    *arguments: str | bytes, typed: bytes = b"", of: str = "users", **settings: str
) -> tuple[int | None, str, str]:
    """Runs the command `of`; returns its exit code, its output and its error output."""
    process = await start(*arguments, settings=settings, of=of)
    printed, said = await process.communicate(typed)
    return process.returncode, printed.decode(), said.decode()
