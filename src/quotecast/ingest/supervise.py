"""Keeps an upstream connected: whatever ends a connection, another follows, ever later, never at once."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Final

import structlog

from quotecast.errors import UpstreamError
from quotecast.providers import outcomes
from quotecast.providers.base import QuoteProvider, Update

FIRST_DELAY_SECONDS: Final = 0.5
LAST_DELAY_SECONDS: Final = 30.0

log = structlog.get_logger()


def delays(chance: Callable[[], float] = random.random) -> Iterator[float]:
    """Seconds to wait before each further try: doubling up to a cap, jittered by half."""
    delay = FIRST_DELAY_SECONDS
    while True:
        yield delay * (0.5 + chance() / 2)
        delay = min(delay * 2, LAST_DELAY_SECONDS)


async def pump(
    provider: QuoteProvider,
    take: Callable[[Update], None],
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> None:
    """Passes on what the upstream sends, for ever."""
    waits = delays(chance)
    while True:
        asked, outcome = 0.0, "ended"
        try:
            async with aclosing(provider.updates()) as updates:
                async for update in updates:
                    take(update)
                    waits = delays(chance)
            log.warning("upstream ended the connection", feed=provider.feed, provider=provider.name)
        except UpstreamError as error:
            asked, outcome = error.retry_after or 0.0, "failed"
            log.warning("upstream failed", feed=provider.feed, provider=provider.name, error=str(error))
        except Exception:
            # A bug in one adapter must not take the other feeds down with it.
            outcome = "broken"
            log.exception("provider failed", feed=provider.feed, provider=provider.name)
        outcomes.connections[provider.feed, provider.name, outcome] += 1
        await sleep(max(next(waits), asked))
