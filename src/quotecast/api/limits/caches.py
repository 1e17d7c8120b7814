"""Caches in front of the workers: they count the requests that they answer, and ask here how.

A cache asks at ASK_PATH about a request of a client and gets 204, or 403 for a client past its limit: the
statuses that nginx's `auth_request` understands. It asks in one of two ways:

- `count`: the worker counts the request as its own and answers with `X-RateLimit-*`.
- `name`: the cache counts by itself. The worker answers with the name of the window and its limit, so that
  both know one canonical path for all the ways to write it. It counts a user's request itself: only workers
  know tokens.

Then the cache answers from its store, or sends the request to a worker, which does not count it again. All
this is for public reads. Workers count requests of accounts themselves, with and without a cache in front.
"""

import hmac
import re
from collections.abc import Awaitable, Iterable
from typing import Any, Final, get_args
from urllib.parse import quote, unquote

from quotecast.access.plans import Group
from quotecast.access.request_state import request_state
from quotecast.api.gate.addresses import is_trusted_peer
from quotecast.api.middleware.middleware import MAX_PATH_LENGTH
from quotecast.asgi import App, Headers, Message, Receive, Scope, Send, header_value, respond
from quotecast.limits.decision import Decision, Step

ASK_PATH: Final = "/api/limit"
#: Headers of a cache's requests: its key; where it asks, the client's path and query, and how it counts.
KEY: Final = b"x-edge-key"
ASKED_URI: Final = b"x-original-uri"
ASKED_WAY: Final = b"x-edge-limits"
#: Headers of an answer to `name`.
WINDOW: Final = b"x-limit-window"
LIMIT: Final = b"x-limit-requests"

#: Groups of routes whose reads are public, as plans have them; caches count no others.
PUBLIC_GROUPS: Final = frozenset(get_args(Group))
_SLASHES: Final = re.compile("//+")


def is_asked(scope: Scope) -> bool:
    """Whether a cache asks about a request."""
    return request_state(scope).step in {Step.COUNT, Step.NAME}


class CacheLimits:
    """ASGI application around the routed one; recognises requests of caches.

    A request is a cache's if it comes from a trusted proxy and has the key. Any other request passes
    unchanged and is counted as usual, also one for ASK_PATH, which is not a route.
    """

    def __init__(self, app: App, *, key: str, trusted_proxies: Iterable[str]) -> None:
        self._app = app
        self._key = key.encode()
        self._is_trusted = is_trusted_peer(trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection."""
        key = header_value(scope, KEY) if scope["type"] == "http" else None
        if key is None or not (hmac.compare_digest(key, self._key) and self._is_trusted(scope)):
            await self._app(scope, receive, send)
            return
        if scope["path"] != ASK_PATH:
            request_state(scope).step = Step.ANSWER
            await self._app(scope, receive, send)
            return
        # The client's request is routed up to its limit, so that one code finds its window. The server that
        # parses requests for the worker drops a fragment, too.
        target, _, _ = (header_value(scope, ASKED_URI) or b"").partition(b"#")
        uri, _, query = target.partition(b"?")
        path = _SLASHES.sub("/", unquote(uri))
        if not path.startswith("/") or len(path) > MAX_PATH_LENGTH or not path.isprintable():
            await admit_without_limit(send)
            return
        request_state(scope).step = Step.NAME if header_value(scope, ASKED_WAY) == b"name" else Step.COUNT
        scope.update(method="GET", path=path, raw_path=uri, query_string=query)
        await self._app(scope, receive, _without_other_answers(send))


async def admit_without_limit(send: Send) -> None:
    """Answers that a request has no limit."""
    await respond(send, 204, [])


async def name_window(send: Send, window: str, limit: int) -> None:
    """Answers the window that a request counts in, percent-encoded, and its limit."""
    await respond(send, 204, [(WINDOW, quote(window).encode()), (LIMIT, b"%d" % limit)])


async def answer_decision(send: Send, decision: Decision, headers: Headers) -> None:
    """Answers 204 for an admitted request and 403 for a refused one, with the headers of its window."""
    if decision.admitted:
        await respond(send, 204, headers)
    else:
        await respond(send, 403, [*headers, (b"retry-after", b"%d" % decision.reset)])


def _without_other_answers(send: Send) -> Send:
    """Turns an answer of the router, such as 404, into one of no limit: the request meets it again."""
    ours = True

    def answer(message: Message) -> Awaitable[Any]:
        nonlocal ours
        if message["type"] == "http.response.start":
            ours = message["status"] in {204, 403}
            if not ours:
                message = {**message, "status": 204, "headers": []}
        elif not ours:
            message = {**message, "body": b""}
        return send(message)

    return answer
