"""Who may write a feed: one ingest at a time, by a lease that ends by itself when its holder does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Literal

import structlog

from quotecast.bus.base import Writer
from quotecast.errors import BusError
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

LEASE_MILLISECONDS: Final = 3000
RENEW_SECONDS: Final = 1.0
#: Between two tries to take over: a part of the time in which clients hear nothing new.
STANDBY_SECONDS: Final = 0.25

Sleep = Callable[[float], Awaitable[None]]
#: What this ingest is to a feed; unknown while the bus does not answer.
Standing = Literal["unknown", "standby", "leading"]
Tell = Callable[[Standing], None]

log = structlog.get_logger()


class LeaseLostError(Exception):
    """Another ingest leads the feed now."""


def _untold(_: Standing) -> None:
    """Does nothing."""


async def acquire(
    bus: Writer, feed: Feed, owner: str, sleep: Sleep = asyncio.sleep, *, tell: Tell = _untold
) -> None:
    """Waits until this ingest leads the feed; calls `tell` after each try."""
    waiting, outage = False, OutageLog()
    while (standing := await _tried(bus, feed, owner, outage)) != "leading":
        tell(standing)
        if standing == "standby" and not waiting:
            log.info("another ingest leads; standing by", feed=feed)
            waiting = True
        await sleep(STANDBY_SECONDS)
    tell(standing)
    log.info("leading", feed=feed)


async def keep(
    bus: Writer, feed: Feed, owner: str, sleep: Sleep = asyncio.sleep, *, tell: Tell = _untold
) -> None:
    """Renews the lease until it is lost, then raises LeaseLostError.

    While Redis is away nobody can take the lease, so nothing is lost; the bus checks the holder again
    before it takes a new epoch.
    """
    outage = OutageLog()
    while True:
        await sleep(RENEW_SECONDS)
        try:
            held = await bus.hold(feed, owner, LEASE_MILLISECONDS)
        except BusError as error:
            outage.failed("lease not renewed", feed=feed, error=str(error))
            tell("unknown")
            continue
        outage.ended("the bus answers again", feed=feed)
        if not held:
            raise LeaseLostError
        tell("leading")


async def _tried(bus: Writer, feed: Feed, owner: str, outage: OutageLog) -> Standing:
    try:
        held = await bus.hold(feed, owner, LEASE_MILLISECONDS)
    except BusError as error:
        outage.failed("cannot ask for the lease", feed=feed, error=str(error))
        return "unknown"
    outage.ended("the bus answers again", feed=feed)
    return "leading" if held else "standby"
