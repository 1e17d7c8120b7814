"""Adapters and their upstreams run in one loop here, which skips the time that both wait for."""

import asyncio
from collections.abc import Mapping

import pytest

from support.runs.virtual_time import loop_of


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, type[asyncio.AbstractEventLoop]]:
    """Returns the loop of a test."""
    return {"loop": loop_of(item)}
