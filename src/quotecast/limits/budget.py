"""What an upstream's plan allows, over all processes together."""

from collections.abc import Awaitable, Callable, MutableMapping

from quotecast.errors import UpstreamError
from quotecast.limits.decision import Decision


def budget(
    check: Callable[[str, int], Awaitable[Decision]],
    upstream: str,
    limit: int,
    left: MutableMapping[str, int] | None = None,
) -> Callable[[], Awaitable[None]]:
    """What is awaited before each call of an upstream that allows `limit` in the window of `check`.

    `check` is that of a `quotecast.limits.window.Window`; `left` is told how many calls remain.
    Raises UpstreamError, with the seconds until the next call is allowed, when the calls are used up.
    """

    async def admitted() -> None:
        decision = await check(f"upstream {upstream}", limit)
        if left is not None:
            left[upstream] = decision.remaining
        if not decision.admitted:
            raise UpstreamError(f"{upstream}: its plan allows no more calls now", retry_after=decision.reset)

    return admitted
