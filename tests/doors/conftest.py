"""A running `up` with two workers, and the prices that a client of any door must show."""

from collections.abc import Iterator

import pytest

from support.runs.deadlines import scaled
from support.servers.running_up import Up, running_up
from support.stages.door_market import Market


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Runs `quotecast up` with two workers and simulated upstreams; tests of this folder share it."""
    with running_up(tmp_path_factory.mktemp("doors")) as running:
        yield running


@pytest.fixture(scope="package")
def market(up: Up) -> Iterator[Market]:
    """Follows all feeds of `up`."""
    with pytest.MonkeyPatch.context() as patched:
        # A busy machine must not end the witness of all prices.
        patched.setattr("quotecast.bus.calls.DEADLINE_SECONDS", scaled(5))
        following = Market(up)
        try:
            following.wait_until_full()
            yield following
        finally:
            following.end()
