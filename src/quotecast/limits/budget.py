"""Call quotas of upstream plans, shared by all processes."""

from collections.abc import Awaitable, Callable, MutableMapping

from quotecast.errors import UpstreamError
from quotecast.limits.decision import Decision


def budget(
    check: Callable[[str, int], Awaitable[Decision]],
    upstream: str,
    limit: int,
    left: MutableMapping[str, int] | None = None,
) -> Callable[[], Awaitable[None]]:
    """Returns a function to await before each call of an upstream that allows `limit` calls per window.

    `check` is the method of a `quotecast.limits.window.Window`. The function writes the number of remaining
    calls to `left[upstream]`. It raises UpstreamError when no call remains; `retry_after` is the seconds
    until the next one.
    """

    async def admit() -> None:
        decision = await check(f"upstream {upstream}", limit)
        if left is not None:
            left[upstream] = decision.remaining
        if not decision.admitted:
            raise UpstreamError(f"{upstream}: its plan allows no more calls now", retry_after=decision.reset)

    return admit
