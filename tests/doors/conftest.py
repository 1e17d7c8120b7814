"""A running `up` with two workers, and the prices that a client of any door must show."""

from collections.abc import Iterator

import pytest

from support.servers.running_up import Up, running_up
from support.stages.door_market import Market


@pytest.fixture(scope="session")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Runs `quotecast up` with two workers and simulated upstreams; tests of a session share it."""
    with running_up(tmp_path_factory.mktemp("doors")) as running:
        yield running


@pytest.fixture(scope="session")
def market(up: Up) -> Iterator[Market]:
    """Follows all feeds of `up`."""
    following = Market(up)
    try:
        following.wait_until_full()
        yield following
    finally:
        following.end()
