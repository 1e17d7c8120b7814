"""The terminal page of a checkout, which `up` builds beside the start of the service."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path

from quotecast.errors import QuotecastError
from quotecast.local import children, console
from quotecast.local.child import ProcessSpec


def build_script() -> Path | None:
    """Returns the script that builds the page if its sources changed; None in an installed wheel."""
    script = Path(str(files("quotecast"))) / "web" / "build"
    return script if script.is_file() else None


@contextlib.asynccontextmanager
async def building(script: Path | None) -> AsyncIterator[None]:
    """Runs the script beside the body, and stops it at the end. Its failure is a line, and ends nothing."""
    task = asyncio.create_task(_build(script)) if script else None
    try:
        yield
    finally:
        if task:
            task.cancel()
            await asyncio.wait({task})


async def _build(script: Path) -> None:
    try:
        seconds = await children.run_to_end(ProcessSpec(name="page", command=[str(script)]))
    except QuotecastError as error:
        console.pass_on("page", f"is not built, all else is served: {error}")
    else:
        console.say(f"{'page':<9} is built, {seconds:.1f} s")
