"""Rate limits of routes, as a Litestar middleware.

Litestar answers unmatched paths and wrong methods before any middleware, so those make no key.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from quotecast.api.edge import App, Message, Receive, Scope, Send
from quotecast.limits.decision import Decision
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical

#: The entry of a route's `opt` that names its group; a route without one has no limit.
GROUP: Final = "limit"
#: The entry of a route's `opt` that has it counted by address, whoever asks.
BY_ADDRESS: Final = "by_address"
#: Where a request's scope tells what it was counted as, and what was decided.
LIMITED: Final = "quotecast.limited"
DECISION: Final = "quotecast.decision"

_FEEDS: Final = {
    "market": Feed.STOCKS,
    "crypto": Feed.CRYPTO,
    "doviz": Feed.DOVIZ,
    "financials": Feed.STOCKS,
}
_BODY: Final = b'{"detail":"Too Many Requests"}'

Check = Callable[[str, int], Awaitable[Decision]]


class Limited(Struct, frozen=True):
    """What a request is counted as: its canonical path, under whoever asks."""

    path: str
    limit: int
    group: str

    def key(self, identity: str) -> str:
        """The key of its window."""
        return f"{identity} {self.path}"


def throttle(
    check: Check,
    *,
    limits: Mapping[str, int],
    identify: Callable[[Scope], str],
    by_address: Callable[[Scope], str],
) -> Callable[[App], App]:
    """Limits each route whose `opt` names a group of `limits`, per identity and canonical path.

    Every limited answer bears `X-RateLimit-*`; a refused request is answered 429 and goes no further. One
    that was decided on before it came here is not counted again.
    """

    def middleware(app: App) -> App:
        async def limited(scope: Scope, receive: Receive, send: Send) -> None:
            options = scope["route_handler"].opt
            group = options.get(GROUP)
            if group is None or scope["type"] != "http" or scope["method"] == "OPTIONS":
                await app(scope, receive, send)
                return
            decision = scope.get(DECISION)
            if decision is None:
                path = canonical_path(group, scope["path_template"], scope["path_params"])
                limited = scope[LIMITED] = Limited(path, limits[group], group)
                identity = by_address(scope) if options.get(BY_ADDRESS) else identify(scope)
                decision = scope[DECISION] = await check(limited.key(identity), limited.limit)
            if decision.admitted:
                await app(scope, receive, _with_headers(send, headers_of(decision)))
            else:
                await refuse(send, decision)

        return limited

    return middleware


def canonical_path(group: str, template: str, parameters: Mapping[str, Any]) -> str:
    """One text for all the ways to write a path: its template and, if any, its values in one spelling.

    Text that cannot be a symbol is one value, whatever it is, so that nonsense makes no keys.
    """
    if not parameters:
        return template
    values = (_spelled(group, str(value)) for value in parameters.values())
    return f"{template} {' '.join(values)}"


def _spelled(group: str, value: str) -> str:
    # A parameter that may hold slashes comes with one in front.
    value = value.removeprefix("/")
    feed = _FEEDS.get(group)
    if feed is None:
        return value.casefold().replace("-", "/")
    return canonical(feed, value) or "?"


def headers_of(decision: Decision) -> list[tuple[bytes, bytes]]:
    """How the window stands."""
    return [
        (b"x-ratelimit-limit", b"%d" % decision.limit),
        (b"x-ratelimit-remaining", b"%d" % decision.remaining),
        (b"x-ratelimit-reset", b"%d" % decision.reset),
    ]


def _with_headers(send: Send, headers: list[tuple[bytes, bytes]]) -> Send:
    def answer(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        return send(message)

    return answer


async def refuse(send: Send, decision: Decision) -> None:
    """Answers 429."""
    headers = [
        *headers_of(decision),
        (b"retry-after", b"%d" % decision.reset),
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(_BODY)),
    ]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": _BODY, "more_body": False})
