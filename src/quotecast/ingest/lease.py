"""Leases: one ingest at a time writes a feed, and its lease expires soon after it dies."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Literal

import structlog

from quotecast.bus.base import BusWriter
from quotecast.errors import BusError
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

LEASE_MILLISECONDS: Final = 3000
RENEW_SECONDS: Final = 1.0
#: Seconds between two tries of a standby to take the lease; clients get no updates meanwhile.
STANDBY_SECONDS: Final = 0.25
#: Tries for which a standby leaves a feed without a state to its leader. The bus has lost its data, which the
#: leader remembers; it asks for its lease within a second.
LEADERS_TRIES: Final = 8

Sleep = Callable[[float], Awaitable[None]]
#: This ingest's role in a feed; unknown while the bus does not answer.
Standing = Literal["unknown", "standby", "leading"]
Report = Callable[[Standing], None]

log = structlog.get_logger()


class LeaseLostError(Exception):
    """Another ingest leads the feed now."""


async def acquire(
    bus: BusWriter, feed: Feed, owner: str, sleep: Sleep = asyncio.sleep, *, report: Report = lambda _: None
) -> None:
    """Waits until this ingest leads the feed; calls `report` after each try."""
    is_logged, outage, leaders_tries = False, OutageLog(), 0
    while True:
        ask = bus.take_over if leaders_tries else bus.hold
        try:
            held = await ask(feed, owner, LEASE_MILLISECONDS)
        except BusError as error:
            outage.log_failure("cannot ask for the lease", feed=feed, error=str(error))
            report("unknown")
        else:
            outage.log_end("the bus answers again", feed=feed)
            if held:
                break
            report("standby")
            leaders_tries = leaders_tries - 1 if held is None else LEADERS_TRIES
            if not is_logged:
                log.info("another ingest leads; standing by", feed=feed)
                is_logged = True
        await sleep(STANDBY_SECONDS)
    report("leading")
    log.info("leading", feed=feed)


async def lead(
    bus: BusWriter, feed: Feed, owner: str, term: Callable[[], Coroutine[Any, Any, None]], report: Report
) -> None:
    """Runs a `term` as the feed's leader whenever no other ingest leads it, without end."""
    while True:
        await acquire(bus, feed, owner, report=report)
        # A task of its own: before Python 3.13 a failing TaskGroup loses a cancellation.
        await asyncio.create_task(term())
        task = asyncio.current_task()
        if task and task.cancelling():
            raise asyncio.CancelledError


async def renew(
    bus: BusWriter, feed: Feed, owner: str, sleep: Sleep = asyncio.sleep, *, report: Report = lambda _: None
) -> None:
    """Renews the lease every second. Raises LeaseLostError when another ingest has it.

    During an outage of Redis nobody can take the lease, so this ingest goes on; the bus checks the holder
    again before it accepts a new epoch.
    """
    outage = OutageLog()
    while True:
        await sleep(RENEW_SECONDS)
        try:
            held = await bus.hold(feed, owner, LEASE_MILLISECONDS)
        except BusError as error:
            outage.log_failure("could not renew the lease", feed=feed, error=str(error))
            report("unknown")
            continue
        outage.log_end("the bus answers again", feed=feed)
        if not held:
            raise LeaseLostError
        report("leading")
