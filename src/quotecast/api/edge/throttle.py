"""Rate limits of routes, as a Litestar middleware.

Litestar answers unmatched paths and wrong methods before any middleware, so those make no key.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from quotecast.asgi import App, Message, Receive, Scope, Send
from quotecast.limits.decision import Decision

#: The entry of a route's `opt` that names its group; a route without one has no limit.
GROUP: Final = "limit"
#: The entry of a route's `opt` that has it counted by address, whoever asks.
BY_ADDRESS: Final = "by_address"
#: Where a request's scope tells what it was counted as, and what was decided.
LIMITED: Final = "quotecast.limited"
DECISION: Final = "quotecast.decision"
_GIVE_BACK: Final = "quotecast.give_back"

_BODY: Final = b'{"detail":"Too Many Requests"}'

Check = Callable[[str, int], Awaitable[Decision]]
#: Frees a slot of a key.
GiveBack = Callable[[str], Awaitable[None]]
#: The one spelling of a name in a path of a group; None for a name that the group does not know.
Find = Callable[[str, str], str | None]


class Limited(Struct, frozen=True):
    """What a request is counted as: its canonical path, under the identity of the client.

    The path is one text for all the ways to write it: the route's template and, if it has parameters, the
    spelling of each. Names that nobody knows and ids of account items are all spelled `?`, so that they
    share one window. Names are looked up for each request: one may become known, another unknown.
    """

    group: str
    limit: int
    template: str
    parameters: tuple[str, ...]
    find: Find

    def key(self, identity: str) -> str:
        """The key of its window."""
        # A parameter that may hold slashes comes with one in front.
        spelled = (self.find(self.group, text.removeprefix("/")) or "?" for text in self.parameters)
        return " ".join((identity, self.template, *spelled))


def throttle(
    check: Check,
    give_back: GiveBack,
    *,
    limits: Mapping[str, int],
    find: Find,
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
            if group is None or scope["type"] != "http":
                await app(scope, receive, send)
                return
            decision = scope.get(DECISION)
            if decision is None:
                limited = scope[LIMITED] = _limited(group, limits[group], scope, find)
                key = limited.key(by_address(scope) if options.get(BY_ADDRESS) else identify(scope))
                decision = scope[DECISION] = await check(key, limited.limit)
                scope[_GIVE_BACK] = partial(give_back, key)
            if decision.admitted:
                await app(scope, receive, _with_headers(send, scope))
            else:
                await refuse(send, decision)

        return limited

    return middleware


def _limited(group: str, limit: int, scope: Scope, find: Find) -> Limited:
    parameters = tuple(map(str, scope["path_params"].values()))
    return Limited(group, limit, scope["path_template"], parameters, find)


def headers_of(decision: Decision) -> list[tuple[bytes, bytes]]:
    """How the window stands."""
    return [
        (b"x-ratelimit-limit", b"%d" % decision.limit),
        (b"x-ratelimit-remaining", b"%d" % decision.remaining),
        (b"x-ratelimit-reset", b"%d" % decision.reset),
    ]


async def overrule(scope: Any, decision: Decision) -> None:
    """Has the answer tell of a narrower window that refused the request; it uses no slot of its path then."""
    if DECISION in scope:
        scope[DECISION] = decision
        await scope[_GIVE_BACK]()


def _with_headers(send: Send, scope: Scope) -> Send:
    def answer(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers_of(scope[DECISION])]
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
