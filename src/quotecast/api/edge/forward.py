"""The way of an edge to its origin for requests that the feeds do not answer: accounts, bars, companies."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final
from urllib.parse import quote

import httpx
import structlog

from quotecast.access.request_state import request_state
from quotecast.api.gate.addresses import client_address, identity, networks
from quotecast.api.middleware.middleware import Observer
from quotecast.api.middleware.problems import refuse_request
from quotecast.asgi import App, Header, Headers, Receive, Scope, Send, respond, wait_until_left
from quotecast.errors import QuotecastError, RequestTimeout, TooLarge, UpstreamError
from quotecast.http_client import HttpClient
from quotecast.observe.outages import OutageLog

#: Seconds to connect, and to wait for a place among the connections.
CONNECT_SECONDS: Final = 3.0
#: Seconds of silence in an answer; waits for events of alerts take up to thirty.
READ_SECONDS: Final = 45.0
#: Seconds in which a request's body arrives.
BODY_SECONDS: Final = 10.0
#: Bytes of a request's body: the origin takes 256 KiB at most, and refuses a longer one itself.
MAX_BODY_BYTES: Final = 300_000
#: Bytes of an answer that the edge holds until it is whole; it streams longer and unsized ones.
MAX_WHOLE_BYTES: Final = 1 << 18
#: Connections to the origin at once, those that rest included, and requests of one address.
MAX_CONNECTIONS: Final = 1000
MAX_RESTING: Final = 100
MAX_PER_ADDRESS: Final = MAX_CONNECTIONS // 4

#: Headers of one connection only (RFC 9110, section 7.6.1), and those that this module writes itself.
_HOP: Final = frozenset(
    {
        b"connection", b"expect", b"forwarded", b"host", b"keep-alive", b"proxy-authenticate",
        b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
        b"x-forwarded-for",
    }
)  # fmt: skip
#: The origin's server writes these for its own connection, and this one for its own.
_OF_SERVER: Final = frozenset({b"date", b"server"})
_SAFE: Final = frozenset({"GET", "HEAD"})
#: The bytes of a request's target that HTTP/1.1 sends as they are; servers take UTF-8 in it, too.
_VISIBLE: Final = bytes(range(0x21, 0x7F))


_AWAY: Final = UpstreamError("The origin of this edge does not answer; the feeds go on", retry_after=1)
_FULL: Final = UpstreamError("This edge has too many requests to its origin; try again later", retry_after=1)
_TOO_MANY: Final = UpstreamError("Your address has too many requests in progress", retry_after=1)

log = structlog.get_logger()


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001 - ASGI's signature
    """ASGI application that answers with the refusal in the request's state; `Middleware` goes around it."""
    await refuse_request(scope, send, request_state(scope).refusal or _AWAY)


class Forward:
    """ASGI application that passes requests on to the origin, and its answers back, unread.

    The origin sees the client's address if it trusts this edge as a proxy. `refusing` is `refuse` behind the
    edge's own layer. A request's body is complete before the origin hears of it, so that slow clients hold no
    connections there.
    """

    def __init__(
        self,
        origin: str,
        trusted_proxies: Iterable[str],
        *,
        refusing: App,
        observers: Sequence[Observer] = (),
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._trusted = networks(trusted_proxies)
        self._refusing = refusing
        self._observers = observers
        self._url = httpx.URL(origin.replace("ws", "http", 1))
        self._client = HttpClient(
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS, pool=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_RESTING),
            follow_redirects=False,
            # Without this the client would send cookies of one user's answers with the requests of others.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            transport=transport,
        )
        self._in_progress: Counter[str] = Counter()
        self._outage = OutageLog()

    async def close(self) -> None:
        """Closes the connections to the origin."""
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request; answers 503 while the origin does not answer."""
        address = client_address(scope, self._trusted)
        name = identity(address)
        if self._in_progress[name] >= MAX_PER_ADDRESS:
            await self._refuse(_TOO_MANY, scope, receive, send)
            return
        self._in_progress[name] += 1
        try:
            body = await _read_body(scope, receive)
            if isinstance(body, bytes):
                request = self._request(scope, body, str(address) if address else None)
                await _unless_left(self._exchange(request, scope, receive, send), receive)
            elif body is not None:
                await self._refuse(body, scope, receive, send)
        finally:
            self._in_progress[name] -= 1
            if not self._in_progress[name]:
                del self._in_progress[name]

    async def _exchange(self, request: httpx.Request, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        try:
            answer, body = await self._answer(request)
        except httpx.PoolTimeout:
            await self._refuse(_FULL, scope, receive, send)
            return
        except httpx.HTTPError as error:
            self._outage.log_failure("origin does not answer", error=str(error) or type(error).__name__)
            await self._refuse(_AWAY, scope, receive, send)
            return
        self._outage.log_end("origin answers again")
        request_state(scope).request_id = answer.headers.get("x-request-id", "")
        for observe in self._observers:
            observe(scope, answer.status_code, time.perf_counter() - began)
        headers = [each for each in _end_to_end(answer.headers.raw) if each[0] not in _OF_SERVER]
        if body is not None:
            await respond(send, answer.status_code, headers, body)
            return
        # Each part goes to the client as it arrives. After an error the server cuts the client's connection:
        # the answer is not whole.
        try:
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            async for part in answer.aiter_raw():
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await answer.aclose()

    async def _answer(self, request: httpx.Request) -> tuple[httpx.Response, bytes | None]:
        """Returns an answer, and its body if it is whole. Raises HTTPError.

        A read goes out twice if the origin closes its connection meanwhile.
        """
        try:
            return await self._answer_once(request)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if request.method not in _SAFE:
                raise
            return await self._answer_once(request)

    async def _answer_once(self, request: httpx.Request) -> tuple[httpx.Response, bytes | None]:
        answer = await self._client.send(request, stream=True)
        if int(answer.headers.get("content-length", MAX_WHOLE_BYTES + 1)) > MAX_WHOLE_BYTES:
            return answer, None
        try:
            return answer, b"".join([part async for part in answer.aiter_raw()])
        finally:
            await answer.aclose()

    def _request(self, scope: Scope, body: bytes, address: str | None) -> httpx.Request:
        query = scope["query_string"]
        headers = _end_to_end(scope["headers"])
        headers = [each for each in headers if each[0] != b"content-length"]
        if address:
            headers.append((b"x-forwarded-for", address.encode()))
        timeout = self._client.timeout.as_dict()
        target = scope["raw_path"] + (b"?" + query if query else b"")
        target = quote(target, safe=_VISIBLE).encode()
        return httpx.Request(
            scope["method"],
            self._url,
            headers=headers,
            content=body or None,
            # The target as the client wrote it, which a URL would not keep.
            extensions={"timeout": timeout, "target": target},
        )

    async def _refuse(self, refusal: QuotecastError, scope: Scope, receive: Receive, send: Send) -> None:
        request_state(scope).refusal = refusal
        await self._refusing(scope, receive, send)


def _end_to_end(headers: Iterable[Header]) -> Headers:
    """Returns the headers without those of one connection, also those that `Connection` names."""
    headers = [(name.lower(), value) for name, value in headers]
    named = b",".join(value for name, value in headers if name == b"connection")
    hop = _HOP.union(each.strip().lower() for each in named.split(b","))
    return [each for each in headers if each[0] not in hop]


async def _read_body(scope: Scope, receive: Receive) -> bytes | QuotecastError | None:
    """Returns the request's body, the refusal of one too long or too slow, or None if the client left."""
    if not any(name in {b"content-length", b"transfer-encoding"} for name, _ in scope["headers"]):
        return b""
    parts: list[bytes] = []
    length = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                event = await receive()
                if event["type"] == "http.disconnect":
                    return None
                parts.append(event.get("body", b""))
                length += len(parts[-1])
                if length > MAX_BODY_BYTES:
                    return TooLarge()
                if not event.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        return RequestTimeout("Request Timeout")


async def _unless_left(exchange: Any, receive: Receive) -> None:
    """Awaits an exchange; ends it when the client leaves, so that it holds no connection to the origin."""
    tasks = [asyncio.ensure_future(exchange), asyncio.ensure_future(wait_until_left(receive))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def dispatch(local: App, remote: App, is_local: Callable[[Scope], bool]) -> App:
    """Returns an application that passes HTTP requests on to `remote` unless they are local."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        here = scope["type"] != "http" or is_local(scope)
        await (local if here else remote)(scope, receive, send)

    return app
