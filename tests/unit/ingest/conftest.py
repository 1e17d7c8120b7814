"""These tests run on a loop whose seconds pass at once."""

import asyncio
from collections.abc import Mapping

from support.runs.virtual_time import VirtualLoop


def pytest_asyncio_loop_factories() -> Mapping[str, type[asyncio.AbstractEventLoop]]:
    """Returns the loop of every test."""
    return {"loop": VirtualLoop}
