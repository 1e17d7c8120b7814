"""What an upstream's plan allows, over all workers together."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from quotecast.errors import UpstreamError
from quotecast.limits.decision import Decision

T = TypeVar("T")


async def within_budget(
    check: Callable[[str, int], Awaitable[Decision]],
    upstream: str,
    limit: int,
    call: Callable[[], Awaitable[T]],
) -> T:
    """Calls the upstream if that makes no more than `limit` calls in the window of `check`.

    `check` is that of a `quotecast.limits.window.Window`. Raises UpstreamError, with the seconds until
    the next call is allowed, or what the call raises.
    """
    decision = await check(f"upstream {upstream}", limit)
    if not decision.admitted:
        raise UpstreamError(f"{upstream}: its plan allows no more calls now", retry_after=decision.reset)
    return await call()
