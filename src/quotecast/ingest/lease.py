"""Who may write a feed: one ingest at a time, by a lease that ends by itself when its holder does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Literal

import structlog

from quotecast.bus.base import Writer
from quotecast.errors import BusError
from quotecast.market.feeds import Feed

LEASE_MILLISECONDS: Final = 3000
RENEW_SECONDS: Final = 1.0
#: Between two tries to take over: a part of the time in which clients hear nothing new.
STANDBY_SECONDS: Final = 0.25

Sleep = Callable[[float], Awaitable[None]]
#: What this ingest is to a feed; unknown while the bus does not answer.
Standing = Literal["unknown", "standby", "leading"]
Report = Callable[[Standing], None]

log = structlog.get_logger()


class LeaseLostError(Exception):
    """Another ingest leads the feed now."""


def _ignore(_: Standing) -> None:
    """Does nothing."""


async def acquire(
    bus: Writer, feed: Feed, owner: str, sleep: Sleep = asyncio.sleep, *, report: Report = _ignore
) -> None:
    """Waits until this ingest leads the feed; calls `report` after each try."""
    waiting = False
    while (standing := await _try_to_hold(bus, feed, owner)) != "leading":
        report(standing)
        if not waiting:
            log.info("another ingest leads; standing by", feed=feed)
            waiting = True
        await sleep(STANDBY_SECONDS)
    report(standing)
    log.info("leading", feed=feed)


async def renew(
    bus: Writer, feed: Feed, owner: str, sleep: Sleep = asyncio.sleep, *, report: Report = _ignore
) -> None:
    """Renews the lease until it is lost, then raises LeaseLostError.

    While Redis is away nobody can take the lease, so nothing is lost; the bus checks the holder again
    before it takes a new epoch.
    """
    while True:
        await sleep(RENEW_SECONDS)
        try:
            held = await bus.hold(feed, owner, LEASE_MILLISECONDS)
        except BusError as error:
            log.warning("lease not renewed", feed=feed, error=str(error))
            report("unknown")
            continue
        if not held:
            raise LeaseLostError
        report("leading")


async def _try_to_hold(bus: Writer, feed: Feed, owner: str) -> Standing:
    try:
        return "leading" if await bus.hold(feed, owner, LEASE_MILLISECONDS) else "standby"
    except BusError as error:
        log.warning("cannot ask for the lease", feed=feed, error=str(error))
        return "unknown"
