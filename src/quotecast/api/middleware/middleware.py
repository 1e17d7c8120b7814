"""The outermost layer of the API: request ids, CORS, security headers, HEAD, WebSocket origins."""

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from litestar.exceptions import HTTPException

from quotecast.access.request_state import request_state
from quotecast.api.middleware.ambiguity import is_ambiguous
from quotecast.api.middleware.bodies import announces_body, with_whole_body
from quotecast.asgi import App, Headers, Message, Receive, Scope, Send, content_length, header_value, respond

#: The origin that admits all.
_ANY: Final = "*"
#: Origins on the browser's own machine, on any port.
_LOCAL: Final = re.compile(rb"https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")

_EXPOSED: Final = (
    "X-Request-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, "
    "X-Missing-Count, X-Missing-Symbols, X-Renamed-Symbols, X-Total-Count, X-Cache, Age, X-Feed-State, "
    "X-Next-After, X-Next-Page, X-Plan, X-Source, X-Tick-Size, X-Session"
)
_ACCEPTED: Final = (
    "Authorization, Cache-Control, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, "
    "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, X-API-Key, X-Request-ID"
)
_VARY: Final = (b"vary", b"Origin")

#: Called with a request's scope, its status, and the seconds until its answer began.
Observer = Callable[[Scope, int, float], None]

DOCS_PATH: Final = "/api/docs"
OPERATORS_PATH: Final = "/api/admin/"
MAX_PATH_LENGTH: Final = 1024

_MAX_ID_LENGTH: Final = 64
_ID_CHARACTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
_SLASHES: Final = re.compile("//+")
_PRICES_PATH: Final = "/api/prices/"
#: A pair with a slash, encoded or not, in front of `/history` or the end of the path.
_PAIR: Final = re.compile(r"(/api/prices/[^/]+)/(?!history$)([^/]+)")

_SECURITY: Final = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
_NO_CONTENT_POLICY: Final = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_DOCS_POLICY: Final = (
    b"content-security-policy",
    b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
)
_METHODS_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_JSON: Final = [(b"content-type", b"application/json")]
#: The bytes that follow an ambiguous request on its connection may be a part of it.
_LAST_JSON: Final = [*_JSON, (b"connection", b"close")]
#: In the format of `problems`; the id is harmless, so it needs no escapes.
_NOT_FOUND: Final = b'{"detail":"Not Found","code":"not_found","request_id":"%b"}'
_BAD_REQUEST: Final = b'{"detail":"Bad Request","code":"bad_request","request_id":"%b"}'
_NO_STORE: Final = (b"cache-control", b"no-store")


class CorsPolicy:
    """The CORS headers of one class of routes.

    No route allows credentials: a script sets the token's header, a browser never adds it by itself. Where
    any origin may read, the headers do not depend on the request, so shared caches may store one copy;
    otherwise the answer has `Vary: Origin`.
    """

    def __init__(
        self, origins: Iterable[str], *, methods: str, always: Headers, with_local: bool = False
    ) -> None:
        """`methods` are allowed in a preflight; `always` are headers of every answer.

        `with_local` also admits pages of the browser's own machine.
        """
        allowed = list(origins)
        preflight = [
            (b"access-control-allow-methods", methods.encode()),
            (b"access-control-allow-headers", _ACCEPTED.encode()),
            (b"access-control-max-age", b"7200"),
        ]
        exposed = [(b"access-control-expose-headers", _EXPOSED.encode())]
        #: Headers of an answer, and of a preflight's, by origin; callers must not change the lists.
        self.answer = _headers_by_origin(allowed, exposed, always, with_local=with_local)
        self.preflight = _headers_by_origin(allowed, preflight, always, with_local=with_local)


def _headers_by_origin(
    origins: list[str], permissions: Headers, always: Headers, *, with_local: bool
) -> Callable[[bytes | None], Headers]:
    """Returns a function from the origin of a request to the headers of one kind of answer."""
    if _ANY in origins:
        for_any = [*always, (b"access-control-allow-origin", b"*"), *permissions]
        return lambda _: for_any
    default = [*always, _VARY] if origins or with_local else always

    def make(origin: bytes) -> Headers:
        return [*always, (b"access-control-allow-origin", origin), *permissions, _VARY]

    by_origin = {origin.encode(): make(origin.encode()) for origin in origins}

    def find(origin: bytes | None) -> Headers:
        if with_local and origin is not None and _LOCAL.fullmatch(origin):
            return make(origin)
        return by_origin.get(origin or b"", default)

    return find


class Middleware:
    """ASGI application around the routed one; every HTTP answer leaves through it.

    - It echoes an `X-Request-ID` that is short and harmless, or makes one; routes find it in its state.
    - Browsers may read public answers from `cors_origins`. Answers of paths that begin with one of `private`
      are for `account_origins`, with `local_accounts` also for pages of the browser's own machine, and no
      cache stores them.
    - It calls `observers` for every request; `clock` counts seconds from any origin.
    - It answers preflights on every path itself; they reach neither routes nor limits.
    - It routes HEAD as GET and answers without the body; `Allow` names HEAD wherever it names GET.
    - A body has `body_seconds` to arrive. After that the request is answered 408; a truncated body is 400.
    - An answer waits for the rest of the body, or closes the connection.
    - It answers 400 to a request that a proxy may understand differently, and closes its
      connection.
    - It answers 404 to a path that no resource can have, before routing; repeated slashes count as one, and
      the slash of a pair whose history is asked for is a dash: the router takes it for a part of the path.
    - It refuses a WebSocket from an origin outside `websocket_origins` with 403. Clients other than browsers
      omit the origin and pass. The server's own `send` passes unchanged: the stream handler needs its result.
    """

    def __init__(
        self,
        app: App,
        *,
        cors_origins: Iterable[str],
        account_origins: Iterable[str],
        local_accounts: bool = False,
        websocket_origins: Iterable[str],
        private: tuple[str, ...] = (),
        observers: Sequence[Observer] = (),
        clock: Callable[[], float] = time.perf_counter,
        body_seconds: float = 10,
        make_id: Callable[[], bytes] | None = None,
    ) -> None:
        cors_origins = tuple(cors_origins)
        self._app = app
        self._private = private
        self._make_id = make_id or partial(next, _random_ids())
        self._observers = observers
        self._clock = clock
        self._body_seconds = body_seconds
        self._public = CorsPolicy(cors_origins, methods="GET, HEAD", always=[*_SECURITY, _NO_CONTENT_POLICY])
        self._docs = CorsPolicy(cors_origins, methods="GET, HEAD", always=[*_SECURITY, _DOCS_POLICY])
        self._account = CorsPolicy(
            account_origins,
            methods="GET, HEAD, POST, PUT, PATCH, DELETE",
            always=[*_SECURITY, _NO_CONTENT_POLICY, _NO_STORE],
            with_local=local_accounts,
        )
        # No page of another origin reads an operator's answers, or may send a token there.
        self._operators = CorsPolicy(
            (), methods="GET, HEAD, POST", always=[*_SECURITY, _NO_CONTENT_POLICY, _NO_STORE]
        )
        self._websocket_origins = {origin.encode() for origin in websocket_origins}

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serves one connection of any ASGI type. No coroutine: an idle feed holds the frame of each."""
        if scope["type"] == "http":
            return self._http(scope, receive, send)
        if scope["type"] == "websocket":
            origin = header_value(scope, b"origin")
            accepted = self._websocket_origins
            if origin is not None and _ANY.encode() not in accepted and origin not in accepted:
                return _refuse_origin(receive, send)
        return self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if "//" in path:
            path = scope["path"] = _SLASHES.sub("/", path)
        if path.startswith(_PRICES_PATH):
            path = scope["path"] = _PAIR.sub(r"\1-\2", path)
        origin, given_id, preflight, has_body = _fields(scope["headers"])
        if has_body:
            receive, send = with_whole_body(receive, send)
        request_id = given_id if given_id and is_harmless(given_id) else self._make_id()
        state = request_state(scope)
        state.request_id = request_id.decode()
        identified = (b"x-request-id", request_id)
        policy = self._policy(path)

        if preflight and origin and method == "OPTIONS":
            preflights = [*policy.preflight(origin), identified]
            await respond(self._with_edge_headers(scope, send, preflights), 204, [])
            return
        answer = self._with_edge_headers(
            scope, send, [*policy.answer(origin), identified], bodiless=method == "HEAD"
        )
        if is_ambiguous(scope):
            body = _BAD_REQUEST % request_id
            await respond(answer, 400, [*_LAST_JSON, content_length(body)], body)
            return
        if len(path) > MAX_PATH_LENGTH or not path.isprintable():
            body = _NOT_FOUND % request_id
            await respond(answer, 404, [*_JSON, content_length(body)], body)
            return
        if method == "HEAD":
            scope["method"] = "GET"
            state.is_bodiless = True
        elif method == "OPTIONS":
            # The framework's answer to OPTIONS names the methods of one handler; its 405 names those of all.
            scope["method"] = "TRACE"
            answer = _list_methods(answer)
        elif method in _METHODS_WITH_BODY:
            receive = _with_deadline(receive, self._body_seconds)
        await self._app(scope, receive, answer)

    def _with_edge_headers(
        self, scope: Scope, send: Send, headers: Headers, *, bodiless: bool = False
    ) -> Send:
        """Returns a `send` that adds headers to the answer and calls the observers.

        It is a plain function, so that the server's result reaches the caller without a coroutine around it.
        A layer of its own for the observers would cost a tenth of a small answer.
        """
        began = self._clock()
        asks_for_methods = scope["method"] == "OPTIONS"

        def answer(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                seconds = self._clock() - began
                for observe in self._observers:
                    observe(scope, message["status"], seconds)
                # A copy: routes share prepared lists of headers.
                message["headers"] = [*message["headers"], *headers]
                if asks_for_methods or message["status"] == 405:
                    message["headers"] = [_with_head(name, value) for name, value in message["headers"]]
            elif bodiless:
                message = {**message, "body": b""}
            return send(message)

        return answer

    def _policy(self, path: str) -> CorsPolicy:
        if path.startswith(self._private):
            return self._operators if path.startswith(OPERATORS_PATH) else self._account
        return self._docs if path.startswith(DOCS_PATH) else self._public


async def _refuse_origin(receive: Receive, send: Send) -> None:
    """Closes a WebSocket before it is accepted: the server answers 403."""
    await receive()
    await send({"type": "websocket.close", "code": 1008, "reason": "origin"})


def _random_ids() -> Iterator[bytes]:
    """Yields ids of 16 characters; asks the kernel for many at once."""
    while True:
        block = os.urandom(4096).hex().encode()
        for start in range(0, len(block), 16):
            yield block[start : start + 16]


def _fields(headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes | None, bytes | None, bool, bool]:
    """Returns the origin, the client's request id, and whether the request is a preflight and has a body."""
    origin = request_id = None
    preflight = has_body = False
    for name, value in headers:
        if name == b"origin":
            origin = value
        elif name == b"x-request-id":
            request_id = value
        elif name == b"access-control-request-method":
            preflight = True
        elif announces_body(name, value):
            has_body = True
    return origin, request_id, preflight, has_body


def _list_methods(send: Send) -> Send:
    """Turns the 405 of a method that no route has into a 204 that lists the methods of the path."""
    listed = False

    def answer(message: Message) -> Awaitable[None]:
        nonlocal listed
        if message["type"] == "http.response.start" and message["status"] == 405:
            listed = True
            allowed = [header for header in message["headers"] if header[0] == b"allow"]
            message = {**message, "status": 204, "headers": allowed}
        elif listed:
            message = {**message, "body": b""}
        return send(message)

    return answer


def _with_head(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Returns the header; adds HEAD to an `Allow` that has GET."""
    if name != b"allow":
        return name, value
    methods = {method.strip() for method in value.split(b",")}
    return name, b", ".join(sorted(methods | {b"HEAD"} if b"GET" in methods else methods))


def is_harmless(request_id: bytes) -> bool:
    """Whether a client's request id is safe to repeat in headers and logs."""
    return len(request_id) <= _MAX_ID_LENGTH and not request_id.translate(None, _ID_CHARACTERS)


def _with_deadline(receive: Receive, seconds: float) -> Receive:
    deadline = asyncio.get_running_loop().time() + seconds

    async def receive_before_deadline() -> Message:
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise HTTPException(status_code=408, detail="Request Timeout") from None
        if message["type"] == "http.disconnect":
            # A disconnect here means a truncated body: answer 400, not 500.
            raise HTTPException(status_code=400, detail="Bad Request")
        return message

    return receive_before_deadline
