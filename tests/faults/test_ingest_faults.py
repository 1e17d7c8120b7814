"""The leading ingest dies or freezes, and another takes over; it leads on when Redis alone loses its data."""

import signal
import subprocess
import time
from typing import Any

import pytest
import redis

from quotecast.market.feeds import Feed
from support.runs.figures import Figures
from support.runs.waits import wait_until
from support.servers.whole_service import Whole
from support.stages.standard_load import FEEDS, StandardLoad

TAKEOVER_SECONDS = 5.0
PATIENCE_SECONDS = 30.0
#: Seconds after a thaw in which the old leader would send.
THAWED_SECONDS = 3.0
#: Losses of Redis after which the leader must lead on, and at most all of them: on a machine that stalls the
#: standby may be first.
LED_ON = 3
ROUNDS = 6


@pytest.fixture
def standby(whole: Whole) -> Whole:
    """Starts a second ingest, as a standby of one that leads all feeds.

    The test before may have left two leaders: of two standbys each may take over another feed. On a machine
    that stalls for longer than a lease the standby may lead a feed before the test begins.
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


def epochs(load: StandardLoad, feeds: set[str]) -> set[str]:
    """Returns the epochs that clients of these feeds see, of which there is at least one."""
    found = {each.state.epoch for each in load.listeners if each.feed in feeds}
    assert found
    return found


def wait_for_takeover(load: StandardLoad, feeds: set[str], before: set[str], figures: Figures) -> None:
    """Waits until every client of the feeds has seen a new epoch, and prices move again."""
    at = time.time()
    load.until(lambda: before.isdisjoint(epochs(load, feeds)), PATIENCE_SECONDS)
    figures.note("new epoch seen", time.time() - at, "a part of the next")
    figures.at_most("taken over", load.until_newer(at + 0.5, PATIENCE_SECONDS) + 0.5, TAKEOVER_SECONDS)


def owners(client: Any) -> list[bytes]:
    """Returns who leads each feed, when each has a leader."""
    names = [f"quotecast:{{{feed}}}:lease" for feed in Feed]

    def all_owners() -> list[bytes]:
        found = client.mget(names)
        return [*found] if all(found) else []

    return wait_until(all_owners, "a feed has no leader")


def led_by(ingest: subprocess.Popen[bytes], url: str) -> set[str]:
    """Returns the feeds that an ingest leads, by the names that clients use."""
    with redis.Redis.from_url(url) as client:
        found = zip(FEEDS, owners(client), strict=True)
        return {feed for feed, owner in found if owner.startswith(f"{ingest.pid}-".encode())}


@pytest.mark.vital
def test_the_leader_leads_on_when_redis_has_lost_its_data(standby: Whole, figures: Figures) -> None:
    """It remembers them; the standby, which asks for the lease more often, does not."""
    with standby.under_load() as load, redis.Redis.from_url(standby.redis.url) as client:
        worst, led_on = 0.0, 0
        for _ in range(ROUNDS):
            before = owners(client)
            client.flushall()
            worst = max(worst, load.until_newer(time.time(), PATIENCE_SECONDS))
            led_on += owners(client) == before
            if led_on == LED_ON:
                break
        assert led_on == LED_ON
        figures.at_most("healed", worst, TAKEOVER_SECONDS)
        assert not load.closes


@pytest.mark.vital
def test_a_standby_replaces_a_killed_ingest(standby: Whole, figures: Figures) -> None:
    """After the leader's death clients see a new epoch and no other difference."""
    with standby.under_load() as load:
        leader = standby.ingests.pop(0)
        feeds = led_by(leader, standby.redis.url)
        before = epochs(load, feeds)
        leader.kill()
        wait_for_takeover(load, feeds, before, figures)
        assert not load.closes


def test_a_frozen_ingest_that_thaws_says_nothing_more(standby: Whole, figures: Figures) -> None:
    """After the first message of the new epoch no message of the old epoch arrives."""
    with standby.under_load() as load:
        feeds = led_by(standby.ingests[0], standby.redis.url)
        before = epochs(load, feeds)
        standby.ingests[0].send_signal(signal.SIGSTOP)
        try:
            wait_for_takeover(load, feeds, before, figures)
        finally:
            standby.ingests[0].send_signal(signal.SIGCONT)
        time.sleep(THAWED_SECONDS)
        load.until_newer(time.time(), PATIENCE_SECONDS)
        # A busy machine may cost the new leader an epoch of its own.
        assert before.isdisjoint(epochs(load, feeds))
        assert not load.closes
