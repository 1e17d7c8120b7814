"""Rate limits of routes: one admission for the routes' middleware and for repeated reads.

Litestar answers unmatched paths and wrong methods before any middleware, so those make no key.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from quotecast.access.request_state import RequestState, request_state
from quotecast.api.limits import caches
from quotecast.api.route_table import BY_ADDRESS, LIMIT
from quotecast.asgi import App, Header, Headers, Message, Receive, Scope, Send, content_length, respond
from quotecast.limits.decision import Decision, LimitedPath, Step

_JSON: Final[Header] = (b"content-type", b"application/json")
_BODY: Final = b'{"detail":"Too Many Requests"}'

#: Decides on a request of a key with a limit: at once, or after a call of Redis.
Check = Callable[[str, int], Decision | Awaitable[Decision]]
#: Frees a slot of a key.
GiveBack = Callable[[str], Awaitable[None]]
#: Returns the one spelling of a name in a path of a group; None for a name that the group does not know.
Find = Callable[[str, str], str | None]


class Throttle:
    """Counts requests per identity and canonical path, and answers 429 past the limit of the route's group.

    The canonical path is one text for all the ways to write a path: the route's template and, if it has
    parameters, the spelling of each that `find` returns. All names that `find` does not know and all ids of
    account items are spelled `?`, so that they share one window. `admit` looks names up for each request: a
    name may become known or unknown. `limits` are in requests per window, by group.
    """

    def __init__(
        self,
        check: Check,
        give_back: GiveBack,
        *,
        limits: Mapping[str, int],
        find: Find,
        identify: Callable[[Scope], str],
        by_address: Callable[[Scope], str],
    ) -> None:
        self._check = check
        self._give_back = give_back
        self._limits = limits
        self._find = find
        self._identify = identify
        self._by_address = by_address

    def decide(self, scope: Scope, state: RequestState, path: LimitedPath) -> Decision | Awaitable[Decision]:
        """Returns the decision on a request: at once, or a future of it; counts each request once.

        The caller leaves the decision in the request's state; the path is there, too. Headers and metrics
        need them.
        """
        if state.decision is not None:
            return state.decision
        # A key with another plan has other windows.
        key_client = "" if state.grant is None else state.grant.client
        if path.by_address:
            client = self._by_address(scope)
        elif key_client and path.group in caches.PUBLIC_GROUPS:
            client = key_client
        else:
            client = self._identify(scope)
            # Keys beside a token give its user no more windows on account routes.
            if key_client and client == self._by_address(scope):
                client = key_client
        key = f"{client} {self._window(path)}"
        state.path, state.slot = path, (self._give_back, key)
        return self._check(key, _limit_of(state, path))

    async def admit(self, scope: Scope, send: Send, path: LimitedPath) -> bool:
        """Returns whether the request may go on; answers 429 otherwise.

        Leaves path and decision in the request's state. A public read from a cache in front has been counted
        and has no decision.
        """
        state = request_state(scope)
        # Also without a decision: repeated reads count for the path of the first one.
        state.path = path
        step = state.step
        if step is not None:
            if path.group in caches.PUBLIC_GROUPS:
                return await self._admit_for_cache(scope, send, path, step)
            if step is not Step.ANSWER:
                await caches.admit_without_limit(send)
                return False
        decision = await self._decision(scope, path)
        if not decision.admitted:
            await refuse(scope, send, decision)
        return decision.admitted

    async def _admit_for_cache(self, scope: Scope, send: Send, path: LimitedPath, step: Step) -> bool:
        """Returns True for a request that a cache has counted; answers a cache's question."""
        if step is Step.ANSWER:
            return True
        if step is Step.NAME and self._identify(scope) == self._by_address(scope):
            await caches.name_window(send, self._window(path), _limit_of(request_state(scope), path))
        else:
            decision = await self._decision(scope, path)
            await caches.answer_decision(send, decision, limit_headers(decision))
        return False

    async def _decision(self, scope: Scope, path: LimitedPath) -> Decision:
        state = request_state(scope)
        decision = self.decide(scope, state, path)
        if not isinstance(decision, Decision):
            decision = await decision
        state.decision = decision
        return decision

    def middleware(self, app: App) -> App:
        """Wraps a route of Litestar: limits it if its `opt` names a group."""

        async def limited(scope: Scope, receive: Receive, send: Send) -> None:
            options = scope["route_handler"].opt
            group = options.get(LIMIT)
            if group is None or scope["type"] != "http":
                if caches.is_asked(scope):
                    await caches.admit_without_limit(send)
                else:
                    await app(scope, receive, send)
                return
            parameters = tuple(map(str, scope["path_params"].values()))
            by_address = bool(options.get(BY_ADDRESS))
            path = LimitedPath(group, self._limits[group], scope["path_template"], parameters, by_address)
            if await self.admit(scope, send, path):
                await app(scope, receive, _with_headers(send, scope))

        return limited

    def _window(self, path: LimitedPath) -> str:
        """Returns the canonical path: a window's key without its client."""
        window = path.template
        for text in path.parameters:
            # A parameter that may hold slashes comes with one in front.
            window = f"{window} {self._find(path.group, text.removeprefix('/')) or '?'}"
        return window


def _limit_of(state: RequestState, path: LimitedPath) -> int:
    """Returns the requests per window of a client on a path: those of its plan, else of the settings."""
    grant = state.grant
    if grant is None or path.by_address:
        return path.limit
    limits: Mapping[str, int] = grant.plan.requests  # type: ignore[assignment]  # by names of some groups
    return limits.get(path.group, path.limit)


async def overrule(scope: Any, decision: Decision) -> None:
    """Replaces the decision by the refusal of a narrower window, and frees the slot of the path."""
    state = request_state(scope)
    if state.decision is not None and state.slot is not None:
        state.decision = decision
        give_back, key = state.slot
        await give_back(key)


def limit_headers(decision: Decision) -> Headers:
    """Returns `X-RateLimit-*`: requests per window, what is left of them, seconds until one more."""
    return [
        _number_header(b"x-ratelimit-limit", decision.limit),
        (b"x-ratelimit-remaining", b"%d" % decision.remaining),
        _number_header(b"x-ratelimit-reset", decision.reset),
    ]


@lru_cache(maxsize=1024)
def _number_header(name: bytes, number: int) -> Header:
    return name, b"%d" % number


def _with_headers(send: Send, scope: Scope) -> Send:
    state = request_state(scope)

    def answer(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start" and state.decision is not None:
            # Now, not before: the route may overrule the decision.
            message["headers"] = [*message["headers"], *limit_headers(state.decision)]
        return send(message)

    return answer


async def refuse(scope: Scope, send: Send, decision: Decision) -> None:
    """Answers 429; names the plan of a key."""
    grant = request_state(scope).grant
    plan = [(b"x-plan", grant.plan_name.encode())] if grant and grant.key else []
    retry = (b"retry-after", b"%d" % decision.reset)
    headers = [*limit_headers(decision), *plan, retry, _JSON, content_length(_BODY)]
    await respond(send, 429, headers, _BODY)
