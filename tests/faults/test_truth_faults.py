"""What upstreams and the bus may say wrongly, under the standard load; `just chaos` draws both too."""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from faults.drawn_faults import batch_is_poisoned, value_is_poisoned
from faults.split_drawn import SETTINGS, stocks_split
from support.runs.figures import Figures
from support.servers.whole_service import Whole, whole_service
from support.stages.standard_load import StandardLoad

PATIENCE_SECONDS: Final = 45.0


@pytest.fixture(scope="module")
def whole() -> Iterator[Whole]:
    with whole_service(SETTINGS) as running:
        yield running


def test_no_client_sees_a_split_as_a_crash(whole: Whole, figures: Figures) -> None:
    """Three stocks split on the day on which ingest starts with Alpaca; then it starts without."""
    with whole.under_load() as load:
        began = time.time()
        with stocks_split(whole):
            figures.note("right on the split's day", time.time() - began, "no promise")
        figures.at_most("healed", load.until_newer(time.time(), PATIENCE_SECONDS), 5)


def test_a_value_that_nobody_can_read_costs_a_new_epoch(whole: Whole, figures: Figures) -> None:
    """That of its feed alone. No client is cut off, and none misses a price."""
    with whole.under_load() as load:
        began, before = time.time(), epochs(load)
        with value_is_poisoned(whole):
            pass
        figures.at_most("new epoch", time.time() - began, 3)
        figures.at_most("healed", load.until_newer(time.time(), PATIENCE_SECONDS), 2)
        after = epochs(load)
        assert [feed for feed in before if before[feed] != after[feed]] == ["crypto"]
        assert load.closes == {}


def test_a_batch_with_a_wrong_quote_costs_a_new_epoch(whole: Whole, figures: Figures) -> None:
    """That of its feed alone. No client is cut off, and none misses a price."""
    with whole.under_load() as load:
        began, before = time.time(), epochs(load)
        with batch_is_poisoned(whole):
            pass
        figures.at_most("new epoch", time.time() - began, 3)
        figures.at_most("healed", load.until_newer(time.time(), PATIENCE_SECONDS), 2)
        after = epochs(load)
        assert [feed for feed in before if before[feed] != after[feed]] == ["crypto"]
        assert load.closes == {}


def epochs(load: StandardLoad) -> dict[str, str]:
    """Each feed's, as its clients have it."""
    return {each.feed: each.state.epoch for each in load.listeners}
