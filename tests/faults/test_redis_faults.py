"""Redis dies, freezes and forgets, under the standard load."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from support.clients.scraping import decided_alone
from support.runs.figures import Figures
from support.servers.service import Service
from support.servers.whole_service import Whole
from support.stages.standard_load import StandardLoad

#: Seconds of the outage in the table: longer than every timeout.
OUTAGE_SECONDS = 10.0
HEALED_SECONDS = 2.0
STALE_SECONDS = 4.0
#: Seconds of time-outs until each worker limits alone.
BREAKER_SECONDS = 1.0
PATIENCE_SECONDS = 30.0


def check_nothing_lost(load: StandardLoad) -> None:
    """Fails if a client lost its socket, or a read got no answer."""
    assert not load.closes
    load.check_reads(PATIENCE_SECONDS)


@pytest.mark.vital
def test_redis_dies_and_comes_back_empty(whole: Whole, figures: Figures) -> None:
    """Clients keep their sockets and see `stale`; all feeds are live soon after Redis answers."""
    with whole.under_load() as load:
        killed = time.time()
        whole.redis.kill()
        (whole.redis.socket.parent / "dump.rdb").unlink(missing_ok=True)
        figures.at_most(
            "clients see stale", load.until_feed_state("stale", killed, PATIENCE_SECONDS), STALE_SECONDS
        )
        time.sleep(max(0.0, killed + OUTAGE_SECONDS - time.time()))
        whole.redis.start()
        figures.at_most("healed", load.until_newer(time.time(), PATIENCE_SECONDS), HEALED_SECONDS)
        load.until_feed_state("live", killed, PATIENCE_SECONDS)
        check_nothing_lost(load)


@pytest.mark.vital
def test_redis_freezes(whole: Whole, figures: Figures) -> None:
    """No socket and no read is lost; prices move soon after the thaw."""
    with whole.under_load() as load:
        freeze_for(whole, load, 4.5)
        figures.at_most("healed", load.until_newer(time.time(), PATIENCE_SECONDS), HEALED_SECONDS)
        check_nothing_lost(load)


def test_reads_do_not_notice_a_frozen_redis(whole: Whole, figures: Figures) -> None:
    """Once workers have given Redis up, reads are as fast as without the outage."""
    with whole.under_load() as load:
        began = time.time()
        time.sleep(OUTAGE_SECONDS)
        frozen, thawed = freeze_for(whole, load, OUTAGE_SECONDS)
        figures.at_most("healed", load.until_newer(thawed, PATIENCE_SECONDS), HEALED_SECONDS)
        again = time.time()
        time.sleep(OUTAGE_SECONDS)
        usual = max(load.read_seconds(0.99, began, frozen), load.read_seconds(0.99, again))
        frozen_p99 = load.read_seconds(0.99, frozen + BREAKER_SECONDS, thawed)
        figures.note("p99 of reads", usual * 1000, "what is usual", "ms")
        figures.at_most("p99 of reads above the usual", (frozen_p99 - usual) * 1000, 10, "ms")
        check_nothing_lost(load)


def freeze_for(whole: Whole, load: StandardLoad, seconds: float) -> tuple[float, float]:
    """Freezes Redis; yields the Unix times of freeze and thaw."""
    frozen = time.time()
    whole.redis.freeze()
    try:
        load.until_feed_state("stale", frozen, PATIENCE_SECONDS)
        time.sleep(max(0.0, frozen + seconds - time.time()))
    finally:
        whole.redis.thaw()
    return frozen, time.time()


@pytest.mark.parametrize("command", ["CLIENT KILL TYPE pubsub", "SCRIPT FLUSH", "FLUSHALL"])
@pytest.mark.vital
def test_redis_forgets(whole: Whole, figures: Figures, command: str) -> None:
    """Redis loses subscriptions, scripts or all data: feeds recover, and clients see no error."""
    with whole.under_load() as load, redis.Redis.from_url(whole.redis.url) as client:
        worst = 0.0
        for _ in range(2):
            client.execute_command(*command.split())
            worst = max(worst, load.until_newer(time.time(), PATIENCE_SECONDS))
        figures.at_most("healed", worst, HEALED_SECONDS)
        check_nothing_lost(load)


def test_lost_scripts_lose_no_decision(whole: Whole) -> None:
    """A limit is exact over both workers though Redis loses the script again and again.

    A worker decides alone when Redis takes longer than 50 ms, as on a busy machine: so many more may pass.
    """
    limit, requests = 40, 60
    with (
        Service(whole.redis, {"QUOTECAST_LIMIT_DOVIZ": str(limit)}) as service,
        redis.Redis.from_url(whole.redis.url) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        workers = [service.start_measured("api") for _ in range(2)]

        def ask(number: int) -> int:
            if number % 5 == 0:
                client.script_flush()
            return service.get("/api/doviz/quotes/EUR").status_code

        statuses = Counter(pool.map(ask, range(requests)))
        alone = decided_alone(workers)
        assert statuses.keys() <= {200, 429}
        assert limit <= statuses[200] <= limit + alone
