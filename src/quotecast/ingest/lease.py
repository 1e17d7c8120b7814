"""Leases: one ingest at a time writes a feed, and its lease expires soon after it dies."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Literal

import structlog

from quotecast.bus.base import Writer
from quotecast.errors import BusError
from quotecast.market.feeds import Feed

LEASE_MILLISECONDS: Final = 3000
RENEW_SECONDS: Final = 1.0
#: Seconds between two tries of a standby to take the lease; clients get no updates meanwhile.
STANDBY_SECONDS: Final = 0.25

Sleep = Callable[[float], Awaitable[None]]
#: This ingest's role in a feed; unknown while the bus does not answer.
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
    is_logged = False
    while (standing := await _try_to_hold(bus, feed, owner)) != "leading":
        report(standing)
        if not is_logged:
            log.info("another ingest leads; standing by", feed=feed)
            is_logged = True
        await sleep(STANDBY_SECONDS)
    report(standing)
    log.info("leading", feed=feed)


async def renew(
    bus: Writer, feed: Feed, owner: str, sleep: Sleep = asyncio.sleep, *, report: Report = _ignore
) -> None:
    """Renews the lease every second. Raises LeaseLostError when another ingest has it.

    During an outage of Redis nobody can take the lease, so this ingest goes on; the bus checks the holder
    again before it accepts a new epoch.
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
