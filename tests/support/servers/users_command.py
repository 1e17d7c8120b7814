"""The commands on accounts, with the settings of a test: as processes, or forked without their imports."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from tempfile import TemporaryFile
from typing import Any

from support.servers.command_server import forked


async def start(*arguments: str | bytes, settings: dict[str, str], of: str = "users", **more: Any) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "quotecast", of, *arguments),
        env=environment_of(settings),
        **{"stdin": PIPE, "stdout": PIPE, "stderr": PIPE, **more},
    )


async def process(
    *arguments: str | bytes, typed: bytes = b"", of: str = "users", **settings: str
) -> tuple[int | None, str, str]:
    """Runs the command `of` as users start it; returns its exit code, its output and its error output."""
    running = await start(*arguments, settings=settings, of=of)
    printed, said = await running.communicate(typed)
    return running.returncode, printed.decode(), said.decode()


async def command(
    *arguments: str | bytes, typed: bytes = b"", of: str = "users", **settings: str
) -> tuple[int | None, str, str]:
    """Runs the command `of` in a tenth of the time of `process`; returns the same."""
    with TemporaryFile() as given, TemporaryFile() as printed, TemporaryFile() as said:
        given.write(typed)
        given.seek(0)
        words = [of, *map(os.fsdecode, arguments)]
        code = await forked(words, environment_of(settings), (given, printed, said))
        printed.seek(0)
        said.seek(0)
        return code, printed.read().decode(), said.read().decode()


def environment_of(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns our environment with the variables of settings."""
    return {**os.environ, **{f"QUOTECAST_{name.upper()}": value for name, value in settings.items()}}
