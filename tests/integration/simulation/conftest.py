"""Clients and simulated vendors run in one loop, whose clock stands still while vendors compute prices."""

import asyncio
from collections.abc import Mapping

from support.runs.virtual_time import WaitingLoop


def pytest_asyncio_loop_factories() -> Mapping[str, type[asyncio.AbstractEventLoop]]:
    """Returns the loop of a test."""
    return {"loop": WaitingLoop}
