"""Watches the feeds of a quotecast service, asks REST beside, and returns the report."""

import asyncio
import contextlib
import time
from typing import Any, Final

import httpx
import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from quotecast.background import run_beside
from quotecast.commands.auditing.feed import FeedAudit
from quotecast.commands.auditing.figures import Moment, Seen, milliseconds
from quotecast.commands.auditing.report import AuditReport, DayReport
from quotecast.commands.auditing.service import AuditRefused, FeedAddress, ServiceAudit
from quotecast.local import console
from quotecast_client import AsyncClient, Feed
from quotecast_client import QuotecastError as RestFailed
from quotecast_client.backoff import Backoff
from quotecast_client.endings import ending_of

#: Symbols of one feed that a check compares.
SAMPLE: Final = 40
_SUBPROTOCOL: Final = Subprotocol("quotecast.v1.rows")
_OPEN_SECONDS: Final = 10.0
_PING_SECONDS: Final = 5.0
#: Seconds in which the feed may reach the answers of the last check.
_SETTLE_SECONDS: Final = 2.0
_PROGRESS_SECONDS: Final = 5.0


def audit(address: FeedAddress, seconds: float, check_every: float) -> AuditReport:
    """Watches for some seconds, or until Ctrl-C. Raises AuditRefused if there is nothing to watch."""
    service = ServiceAudit(address, Moment.now())
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(service, seconds, check_every))
    return service.report(Moment.now())


async def _watch(service: ServiceAudit, seconds: float, check_every: float) -> None:
    following = asyncio.create_task(_follow(service))
    checking = asyncio.create_task(_check(service, seconds, check_every))
    progress = asyncio.create_task(_progress(service, seconds))
    tasks = {following, checking, progress}
    try:
        done, _ = await asyncio.wait({following, checking}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _follow(service: ServiceAudit) -> None:
    """Takes messages for ever, over as many connections as it takes. Raises AuditRefused."""
    backoff, connections = Backoff(), 0
    while True:
        try:
            async with connect(
                service.url,
                subprotocols=[_SUBPROTOCOL],
                open_timeout=_OPEN_SECONDS,
                close_timeout=1,
                max_size=None,
            ) as socket:
                service.reconnects += connections > 0
                connections += 1
                backoff.reset()
                await _receive(service, socket)
        except (OSError, WebSocketException) as error:
            ending = ending_of(error)
            if ending.is_final or not connections:
                reason = ending.reason or str(error) or type(error).__name__
                raise AuditRefused(f"Cannot watch {service.address.base}: {reason}") from error
            asked, service.retry_after = service.retry_after, None
            await asyncio.sleep(backoff.wait() if asked is None else asked)


async def _receive(service: ServiceAudit, socket: ClientConnection) -> None:
    """Takes the messages of one connection until it breaks, or is silent for two heartbeats."""
    async with run_beside(_ping(service, socket)):
        while True:
            async with asyncio.timeout(service.silence):
                message = await socket.recv()
            service.take(message, Moment.now())


async def _ping(service: ServiceAudit, socket: ClientConnection) -> None:
    with contextlib.suppress(WebSocketException):
        while True:
            await socket.send(service.ping(Moment.now()).decode())
            await asyncio.sleep(_PING_SECONDS)


async def _check(service: ServiceAudit, seconds: float, every: float) -> None:
    """Compares with REST at intervals, and at the end."""
    ends = time.monotonic() + seconds
    async with AsyncClient(service.address.rest, retries=1) as client:
        while True:
            left = ends - time.monotonic()
            await asyncio.sleep(max(0.0, min(every, left)))
            for feed, audited in [*service.feeds.items()]:
                await _compare(service, client, feed, audited)
            if left <= every:
                break
        for feed in service.feeds:
            await _read_day(service, client, feed)
    if any(feed.agreement.is_waiting for feed in service.feeds.values()):
        await asyncio.sleep(_SETTLE_SECONDS)


async def _compare(service: ServiceAudit, client: AsyncClient, feed: Feed, audited: FeedAudit) -> None:
    symbols = audited.agreement.sample(SAMPLE)
    if not symbols:
        return
    try:
        answers: dict[str, Any] = {**await client.quotes([f"{feed}:{symbol}" for symbol in symbols])}
    except (RestFailed, httpx.HTTPError):
        service.rest_failures += 1
        return
    for symbol in symbols:
        quote = answers.get(f"{feed}:{symbol}")
        if quote and quote.get("timestamp"):
            audited.agreement.take_answer(symbol, Seen(milliseconds(quote["timestamp"]), quote["price"]))


async def _read_day(service: ServiceAudit, client: AsyncClient, feed: Feed) -> None:
    """Reads the service's own figures of the day; some services have none."""
    # Without a symbol the service would count the bars of all.
    symbols = service.feeds[feed].agreement.sample(1)
    with contextlib.suppress(RestFailed, httpx.HTTPError, msgspec.ValidationError):
        answer = await client.quality(feed, *symbols)
        service.days[feed] = msgspec.convert(answer.get("figures"), DayReport)


async def _progress(service: ServiceAudit, seconds: float) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(_PROGRESS_SECONDS)
        messages = sum(feed.messages for feed in service.feeds.values())
        quotes = sum(feed.quotes.count for feed in service.feeds.values())
        passed = time.monotonic() - began
        console.note(f"{passed:.0f} s of {seconds:.0f}: {messages} messages, {quotes} quotes")
