"""The recorder of bars, PostgreSQL and Redis die and forget while minutes end, under the load.

Simulated worlds play single faults of PostgreSQL and Redis; here are those of several at once.
"""

import time
from collections.abc import Iterator
from typing import Final

import pytest
import redis

from faults.bar_listener import BarListener
from quotecast.market.feeds import Feed
from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.runs.waits import wait_until
from support.servers.whole_service import Whole

pytestmark = pytest.mark.timeout(600)

MINUTE: Final = 60
FIVE_MINUTES: Final = 300
#: Seconds of the minute in which a fault begins; a minute closes two seconds after its end.
BEGINS_AT: Final = 56
PATIENCE_SECONDS: Final = 90.0
#: Seconds, scaled, until listener and PostgreSQL both have the minutes that closed during a comparison.
COMPARED_SECONDS: Final = 5.0
#: Seconds from the end of an outage until PostgreSQL has all bars.
STORED_SECONDS: Final = 15.0


@pytest.fixture(scope="module")
def bars(whole: Whole) -> Iterator[BarListener]:
    """Yields a listener of all bars since the service started."""
    with BarListener(whole.redis.url) as listener:
        yield listener


def wait_for_minute(second: int) -> None:
    """Waits until a minute of the clock is so old."""
    time.sleep((second - time.time()) % MINUTE)


def wait_for_closing(bars: BarListener) -> None:
    """Waits until each feed's minute before the present one is final."""
    end = int(time.time()) // MINUTE * MINUTE
    wait_until(
        lambda: all(bars.newest(feed) >= end for feed in Feed),
        "no minute closes",
        seconds=PATIENCE_SECONDS,
        pause=0.1,
    )


def check_bars(whole: Whole, bars: BarListener, figures: Figures) -> None:
    """Fails unless PostgreSQL soon has exactly the bars that the bus had, and no minute is missing."""
    began = time.monotonic()
    wait_for_closing(bars)
    wait_until(
        lambda: bars.is_stored(whole.postgres.url),
        "bars are not written",
        seconds=PATIENCE_SECONDS,
        pause=0.1,
    )
    figures.at_most("all bars stored", time.monotonic() - began, STORED_SECONDS)
    figures.note("bars compared", bars.count, "no promise", "bars")
    deadline = time.monotonic() + scaled(COMPARED_SECONDS)
    while differences := bars.differences(whole.postgres.url):
        # A minute that closes meanwhile may be in one of the two only.
        assert time.monotonic() < deadline, differences


def test_the_ingest_dies_while_a_minute_ends(whole: Whole, bars: BarListener, figures: Figures) -> None:
    """Bars in progress are a part of the feed's state, which the next leader inherits."""
    with whole.under_load():
        wait_for_minute(BEGINS_AT)
        whole.ingests.pop().kill()
        whole.start_ingest()
        wait_for_minute(1)
        whole.ingests.pop().kill()
        wait_for_minute(5)
        whole.start_ingest()
        check_bars(whole, bars, figures)


@pytest.mark.minutes
def test_the_ingest_and_redis_die_together(whole: Whole, bars: BarListener, figures: Figures) -> None:
    """The bars in progress are lost with both; coarser ones go on from the minutes in PostgreSQL."""
    with whole.under_load():
        time.sleep((FIVE_MINUTES - 40 - time.time()) % FIVE_MINUTES)
        whole.ingests.pop().kill()
        whole.redis.kill()
        (whole.redis.socket.parent / "dump.rdb").unlink(missing_ok=True)
        whole.redis.start()
        whole.start_ingest()
        wait_for_minute(1)
        check_bars(whole, bars, figures)


@pytest.mark.minutes
def test_postgres_is_away_while_redis_forgets_and_the_ingest_dies(
    whole: Whole, bars: BarListener, figures: Figures
) -> None:
    """The bars of three minutes wait in Redis, which gets them back from the leader."""
    with whole.under_load(), redis.Redis.from_url(whole.redis.url) as client:
        wait_for_minute(BEGINS_AT)
        whole.postgres.kill()
        wait_for_minute(8)
        client.flushall()
        wait_for_closing(bars)
        wait_for_minute(8)
        whole.ingests.pop().kill()
        whole.start_ingest()
        wait_for_minute(8)
        whole.postgres.start()
        check_bars(whole, bars, figures)
