"""The leading ingest dies or freezes, and another takes over."""

import signal
import time

import pytest

from support.runs.figures import Figures
from support.servers.whole_service import Whole
from support.stages.standard_load import StandardLoad

TAKEOVER_SECONDS = 5.0
PATIENCE_SECONDS = 30.0
#: Seconds after a thaw in which the old leader would send.
THAWED_SECONDS = 3.0


@pytest.fixture
def standby(whole: Whole) -> Whole:
    """Starts a second ingest as a standby."""
    whole.ingests.append(whole.service.start("ingest"))
    return whole


def wait_for_takeover(load: StandardLoad, before: set[str], figures: Figures) -> None:
    """Waits until every client has seen a new epoch, and prices move again."""
    at = time.time()
    load.until(lambda: before.isdisjoint(each.state.epoch for each in load.listeners), PATIENCE_SECONDS)
    figures.note("new epoch seen", time.time() - at, "a part of the next")
    figures.at_most("taken over", load.until_newer(at + 0.5, PATIENCE_SECONDS) + 0.5, TAKEOVER_SECONDS)


@pytest.mark.vital
def test_a_standby_replaces_a_killed_ingest(standby: Whole, figures: Figures) -> None:
    """After the leader's death clients see a new epoch and no other difference."""
    with standby.under_load() as load:
        before = {each.state.epoch for each in load.listeners}
        leader = standby.ingests.pop(0)
        leader.kill()
        wait_for_takeover(load, before, figures)
        assert not load.closes


def test_a_frozen_ingest_that_thaws_says_nothing_more(standby: Whole, figures: Figures) -> None:
    """After the first message of the new epoch no message of the old epoch arrives."""
    with standby.under_load() as load:
        before = {each.state.epoch for each in load.listeners}
        standby.ingests[0].send_signal(signal.SIGSTOP)
        try:
            wait_for_takeover(load, before, figures)
            after = {each.state.epoch for each in load.listeners}
        finally:
            standby.ingests[0].send_signal(signal.SIGCONT)
        time.sleep(THAWED_SECONDS)
        load.until_newer(time.time(), PATIENCE_SECONDS)
        assert {each.state.epoch for each in load.listeners} == after
        assert not load.closes
