"""The ingest that leads dies or freezes, and another takes over."""

import signal
import time

import pytest

from support.figures import Figures
from support.standard_load import StandardLoad
from support.whole_service import Whole

TAKEOVER_SECONDS = 5.0
PATIENCE_SECONDS = 30.0
#: Long enough for one that thawed to say whatever it still has to say.
THAWED_SECONDS = 3.0


@pytest.fixture
def standby(whole: Whole) -> Whole:
    """With a second ingest that waits for its turn."""
    whole.ingests.append(whole.service.start("ingest"))
    return whole


def taken_over(load: StandardLoad, before: set[str], figures: Figures) -> None:
    """Waits until every client was told of another epoch, and prices move again."""
    at = time.time()
    load.until(lambda: before.isdisjoint(each.state.epoch for each in load.listeners), PATIENCE_SECONDS)
    figures.note("new epoch told", time.time() - at, "a part of the next")
    figures.at_most("taken over", load.until_newer(at + 0.5, PATIENCE_SECONDS) + 0.5, TAKEOVER_SECONDS)


def test_a_killed_ingest_is_succeeded(standby: Whole, figures: Figures) -> None:
    """Clients notice nothing but a new epoch."""
    with standby.loaded() as load:
        before = {each.state.epoch for each in load.listeners}
        leader = standby.ingests.pop(0)
        leader.kill()
        taken_over(load, before, figures)
        assert not load.closes


def test_a_frozen_ingest_that_thaws_says_nothing_more(standby: Whole, figures: Figures) -> None:
    """After the first message of the new epoch comes none of the old one's."""
    with standby.loaded() as load:
        before = {each.state.epoch for each in load.listeners}
        standby.ingests[0].send_signal(signal.SIGSTOP)
        try:
            taken_over(load, before, figures)
            after = {each.state.epoch for each in load.listeners}
        finally:
            standby.ingests[0].send_signal(signal.SIGCONT)
        time.sleep(THAWED_SECONDS)
        load.until_newer(time.time(), PATIENCE_SECONDS)
        assert {each.state.epoch for each in load.listeners} == after
        assert not load.closes
