"""Clients and simulated vendors run in one loop, whose clock stands still while vendors compute prices."""

import asyncio
from collections.abc import Mapping

import pytest

from support.runs.virtual_time import WaitingLoop


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, type[asyncio.AbstractEventLoop]]:
    """Returns the loop of a test."""
    return {"loop": asyncio.SelectorEventLoop if item.get_closest_marker("real_time") else WaitingLoop}
