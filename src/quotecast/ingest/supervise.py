"""Reconnects an upstream with backoff."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import structlog
from msgspec.structs import replace

from quotecast.background import fail_with_awaited_tasks
from quotecast.errors import UpstreamError
from quotecast.providers.base import QuoteProvider, Update
from quotecast.providers.transport import outcomes
from quotecast.providers.transport.backoff import ConnectionBackoff

log = structlog.get_logger()


async def pump(
    provider: QuoteProvider,
    take: Callable[[Update], None],
    ended: Callable[[], None] = lambda: None,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Calls `take` with each update of the upstream, without end, and `ended` after each connection.

    The first update of each connection but the first one is `after_gap`.
    """
    backoff = ConnectionBackoff(clock=clock, chance=chance)
    after_gap = False
    while True:
        asked, outcome = 0.0, "ended"
        try:
            with fail_with_awaited_tasks():
                async with aclosing(provider.updates()) as updates:
                    async for update in updates:
                        backoff.note_message()
                        take(replace(update, after_gap=True) if after_gap else update)
                        after_gap = False
            log.warning("upstream ended the connection", feed=provider.feed, provider=provider.name)
        except UpstreamError as error:
            asked, outcome = error.retry_after or 0.0, "failed"
            log.warning("upstream failed", feed=provider.feed, provider=provider.name, error=str(error))
        except Exception:
            # A bug in one adapter must not end the other feeds.
            outcome = "broken"
            log.exception("provider failed", feed=provider.feed, provider=provider.name)
        outcomes.connections[provider.feed, provider.name, outcome] += 1
        ended()
        after_gap = True
        await sleep(max(backoff.delay(), asked))
