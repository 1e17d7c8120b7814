"""The leading ingest dies or freezes, and another takes over; it leads on when Redis alone loses its data."""

import signal
import time
from typing import Any

import pytest
import redis

from quotecast.market.feeds import Feed
from support.runs.figures import Figures
from support.runs.waits import wait_until
from support.servers.whole_service import Whole
from support.stages.standard_load import StandardLoad

TAKEOVER_SECONDS = 5.0
PATIENCE_SECONDS = 30.0
#: Seconds after a thaw in which the old leader would send.
THAWED_SECONDS = 3.0


@pytest.fixture
def standby(whole: Whole) -> Whole:
    """Starts a second ingest, as a standby of one that leads all feeds.

    The test before may have left two leaders: of two standbys each may take over another feed.
    """
    leader = whole.ingests[0]
    while whole.ingests[1:]:
        whole.stop_ingest()
    with redis.Redis.from_url(whole.redis.url) as client:
        wait_until(
            lambda: all(owner.startswith(f"{leader.pid}-".encode()) for owner in owners(client)),
            "one ingest alone does not lead all feeds",
        )
    whole.ingests.append(whole.service.start("ingest"))
    return whole


def wait_for_takeover(load: StandardLoad, before: set[str], figures: Figures) -> None:
    """Waits until every client has seen a new epoch, and prices move again."""
    at = time.time()
    load.until(lambda: before.isdisjoint(each.state.epoch for each in load.listeners), PATIENCE_SECONDS)
    figures.note("new epoch seen", time.time() - at, "a part of the next")
    figures.at_most("taken over", load.until_newer(at + 0.5, PATIENCE_SECONDS) + 0.5, TAKEOVER_SECONDS)


def owners(client: Any) -> list[bytes]:
    """Returns who leads each feed, when each has a leader."""
    names = [f"quotecast:{{{feed}}}:lease" for feed in Feed]

    def all_owners() -> list[bytes]:
        found = client.mget(names)
        return [*found] if all(found) else []

    return wait_until(all_owners, "a feed has no leader")


@pytest.mark.vital
def test_the_leader_leads_on_when_redis_has_lost_its_data(standby: Whole, figures: Figures) -> None:
    """It remembers them; the standby, which asks for the lease more often, does not."""
    with standby.under_load() as load, redis.Redis.from_url(standby.redis.url) as client:
        before, worst = owners(client), 0.0
        for _ in range(3):
            client.flushall()
            worst = max(worst, load.until_newer(time.time(), PATIENCE_SECONDS))
            assert owners(client) == before
        figures.at_most("healed", worst, TAKEOVER_SECONDS)
        assert not load.closes


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
        finally:
            standby.ingests[0].send_signal(signal.SIGCONT)
        time.sleep(THAWED_SECONDS)
        load.until_newer(time.time(), PATIENCE_SECONDS)
        # A busy machine may cost the new leader an epoch of its own.
        assert before.isdisjoint(each.state.epoch for each in load.listeners)
        assert not load.closes
