"""The way of an edge to its origin, with a fake server in front and a fake origin behind."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from quotecast.access.request_state import request_state
from quotecast.api.edge import forward as module
from quotecast.api.edge.forward import MAX_BODY_BYTES, MAX_PER_ADDRESS, Forward, dispatch, refuse
from quotecast.api.middleware.middleware import Middleware

Handler = Callable[[httpx.Request], Awaitable[httpx.Response]]
Pairs = list[tuple[bytes, bytes]]


class Origin(httpx.AsyncBaseTransport):
    """A fake origin: `seen` has what it got, `answers` or `handler` what it answers."""

    def __init__(self, *answers: httpx.Response | Exception, handler: Handler | None = None) -> None:
        self.seen: list[httpx.Request] = []
        self._answers = [*answers]
        self._handler = handler

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        await request.aread()
        if self._handler:
            return await self._handler(request)
        answer = self._answers.pop(0) if self._answers else answer_of()
        if isinstance(answer, Exception):
            raise answer
        return answer


class Exchange:
    """A request at a fake server, and what it sent."""

    def __init__(
        self,
        method: str = "GET",
        path: bytes = b"/api/auth/profile",
        query: bytes = b"",
        headers: Pairs | None = None,
        body: list[bytes] | None = None,
    ) -> None:
        self.scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path.decode("latin-1"),
            "raw_path": path,
            "query_string": query,
            "headers": [(b"host", b"edge"), *(headers or [])],
            "client": ("198.51.100.7", 1),
        }
        self.events: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.takes = asyncio.Event()
        self.takes.set()
        self._body = body or []

    async def receive(self) -> dict[str, Any]:
        if self._body:
            part = self._body.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(self._body)}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, event: dict[str, Any]) -> None:
        await self.takes.wait()
        self.events.append(event)

    async def through(self, app: Any) -> "Exchange":
        await app(self.scope, self.receive, self.send)
        return self

    @property
    def status(self) -> int:
        status: int = self.events[0]["status"]
        return status

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.events[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(event["body"] for event in self.events[1:])


class Parts(httpx.AsyncByteStream):
    """A body that arrives in parts."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part


def answer_of(status: int = 200, headers: Any = (), *parts: bytes) -> httpx.Response:
    """Returns an answer whose body nobody has read yet."""
    return httpx.Response(status, headers=headers, stream=Parts(*parts))


def forward_to(origin: Origin, trusted: tuple[str, ...] = ()) -> Forward:
    refusing = Middleware(
        refuse, cors_origins=["*"], account_origins=[], websocket_origins=["*"], make_id=_made
    )
    return Forward("wss://quotes.example.com", trusted, refusing=refusing, transport=origin)


def _made() -> bytes:
    return b"made"


def with_length(body: bytes) -> Pairs:
    return [(b"content-length", b"%d" % len(body))]


async def test_requests_and_answers_pass_as_they_are() -> None:
    """Target, method, body, status and headers of both sides arrive unread, compressed ones too."""
    packed = b"\x1f\x8b not unpacked"
    set_twice = [("Content-Encoding", "gzip"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    answer = answer_of(201, set_twice, packed)
    origin = Origin(answer)
    body = b'{"ticker": "AAPL"}'
    headers = [*with_length(body), (b"authorization", b"Bearer x"), (b"x-request-id", b"mine")]
    sent = Exchange("POST", b"/api/portfolio%2Fx/\xc3\xa4", b"a=%20&b", headers, [body[:5], body[5:]])
    await sent.through(forward_to(origin))
    [request] = origin.seen
    assert (request.method, request.content) == ("POST", body)
    # Bytes that HTTP/1.1 does not send are escaped; those are the same target.
    assert request.extensions["target"] == b"/api/portfolio%2Fx/%C3%A4?a=%20&b"
    assert request.url.host == "quotes.example.com"
    assert request.url.scheme == "https"
    assert request.headers["host"] == "quotes.example.com"
    assert request.headers["authorization"] == "Bearer x"
    assert request.headers["x-request-id"] == "mine"
    assert request.headers.get_list("content-length") == [str(len(body))]
    assert (sent.status, sent.body) == (201, packed)
    assert sent.events[0]["headers"] == [
        (b"content-encoding", b"gzip"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
    ]


async def test_headers_of_one_connection_stay_there() -> None:
    """Neither side hears of the other's connection, nor of what `Connection` names (RFC 9110, 7.6.1)."""
    theirs = {"Connection": "close, X-Own", "X-Own": "1", "Keep-Alive": "timeout=5", "X-Kept": "1"}
    origin = Origin(answer_of(200, theirs))
    ours: Pairs = [
        (b"connection", b"keep-alive, X-Secret"),
        (b"connection", b"x-other"),
        (b"X-Secret", b"1"),
        (b"x-other", b"1"),
        (b"te", b"trailers"),
        (b"upgrade", b"h2c"),
        (b"proxy-authorization", b"Basic x"),
        (b"expect", b"100-continue"),
        (b"x-kept", b"1"),
    ]
    sent = await Exchange(headers=ours).through(forward_to(origin))
    [request] = origin.seen
    assert sorted(request.headers) == ["host", "x-forwarded-for", "x-kept"]
    assert sent.headers == {b"x-kept": b"1"}


@pytest.mark.parametrize(
    ("trusted", "given", "seen"),
    [
        ((), [b"203.0.113.9"], "198.51.100.7"),
        ((), [b"203.0.113.9", b"203.0.113.10"], "198.51.100.7"),
        (("198.51.100.0/24",), [b"203.0.113.9"], "203.0.113.9"),
        (("198.51.100.0/24",), [b"192.0.2.66, 203.0.113.9"], "203.0.113.9"),
        (("198.51.100.0/24",), [b"nonsense"], "198.51.100.7"),
    ],
)
async def test_no_client_chooses_its_address(trusted: tuple[str, ...], given: list[bytes], seen: str) -> None:
    """The origin hears the address that the edge found, and nothing that a client invented."""
    origin = Origin()
    forged: Pairs = [*((b"x-forwarded-for", each) for each in given), (b"forwarded", b"for=192.0.2.66")]
    await Exchange(headers=forged).through(forward_to(origin, trusted))
    assert origin.seen[0].headers.get_list("x-forwarded-for") == [seen]
    assert "forwarded" not in origin.seen[0].headers


async def test_no_user_gets_anothers_cookies() -> None:
    """The edge remembers no cookie of an answer: its next request is another user's."""
    origin = Origin(answer_of(200, {"Set-Cookie": "device=1; Path=/"}))
    forward = forward_to(origin)
    await Exchange().through(forward)
    await Exchange().through(forward)
    assert "cookie" not in origin.seen[1].headers
    await Exchange(headers=[(b"cookie", b"device=2")]).through(forward)
    assert origin.seen[2].headers.get_list("cookie") == ["device=2"]


async def test_a_chunked_body_arrives_with_its_length() -> None:
    """The origin gets a whole body with one length, so that nothing hides behind it."""
    origin = Origin()
    chunked = [(b"transfer-encoding", b"chunked")]
    await Exchange("POST", headers=chunked, body=[b"0\r\n\r\n", b"GET / HTTP/1.1"]).through(
        forward_to(origin)
    )
    assert origin.seen[0].headers["content-length"] == "19"
    assert "transfer-encoding" not in origin.seen[0].headers
    await Exchange("DELETE").through(forward_to(origin))
    await Exchange("POST").through(forward_to(origin))
    assert [request.content for request in origin.seen] == [b"0\r\n\r\nGET / HTTP/1.1", b"", b""]


async def test_a_head_has_the_length_and_no_body() -> None:
    """HEAD goes to the origin as HEAD; the length of what a GET would send comes back."""
    origin = Origin(answer_of(200, {"Content-Length": "123"}))
    sent = await Exchange("HEAD").through(forward_to(origin))
    assert origin.seen[0].method == "HEAD"
    assert (sent.headers[b"content-length"], sent.body) == (b"123", b"")


@pytest.mark.parametrize(
    "error", [httpx.ConnectError("refused"), httpx.ReadTimeout(""), httpx.PoolTimeout("")], ids=repr
)
async def test_an_origin_that_does_not_answer_is_a_503(error: Exception) -> None:
    """The answer is a problem as any other: JSON with a request id, CORS headers, and when to try again."""
    sent = await Exchange().through(forward_to(Origin(error)))
    assert sent.status == 503
    problem = json.loads(sent.body)
    assert (problem["code"], problem["request_id"]) == ("upstream", "made")
    assert sent.headers[b"x-request-id"] == b"made"
    assert sent.headers[b"retry-after"] == b"1"
    assert sent.headers[b"access-control-allow-origin"] == b"*"


async def test_only_a_read_is_repeated() -> None:
    """A read goes out again if the origin closes its connection meanwhile; a write might count twice."""
    closed = httpx.RemoteProtocolError("Server disconnected")
    reading, writing = Origin(closed), Origin(closed)
    assert (await Exchange().through(forward_to(reading))).status == 200
    assert (await Exchange("POST").through(forward_to(writing))).status == 503
    assert [len(reading.seen), len(writing.seen)] == [2, 1]


async def test_a_body_too_long_or_too_slow_reaches_no_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client holds no connection to the origin with a body that never ends."""
    origin = Origin()
    chunked = [(b"transfer-encoding", b"chunked")]
    parts = [bytes(100_000)] * (MAX_BODY_BYTES // 100_000 + 1)
    sent = await Exchange("POST", headers=chunked, body=parts).through(forward_to(origin))
    assert (sent.status, json.loads(sent.body)["code"]) == (413, "too_large")
    monkeypatch.setattr(module, "BODY_SECONDS", 0.01)
    slow = Exchange("POST", headers=[(b"content-length", b"5")])
    assert (await slow.through(forward_to(origin))).status == 408
    assert origin.seen == []


async def test_a_client_that_leaves_holds_no_connection() -> None:
    """When the client leaves, the wait for the origin ends; also during the body of either side."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def never(_: httpx.Request) -> httpx.Response:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    sent = Exchange()
    serving = asyncio.ensure_future(sent.through(forward_to(Origin(handler=never))))
    await asked.wait()
    sent.left.set()
    await serving
    assert ended.is_set()
    assert sent.events == []
    gone = Exchange("POST", headers=[(b"content-length", b"5")])
    gone.left.set()
    origin = Origin()
    await gone.through(forward_to(origin))
    assert (gone.events, origin.seen) == ([], [])


async def test_an_answer_waits_for_its_client() -> None:
    """The edge reads no more of an answer than the client takes."""
    read = 0

    async def parts() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(100):
            read += 1
            yield b"x" * 1000

    sent = Exchange()
    sent.takes.clear()
    origin = Origin(httpx.Response(200, content=parts()))
    serving = asyncio.ensure_future(sent.through(forward_to(origin)))
    for _ in range(50):
        await asyncio.sleep(0)
    assert read <= 1
    sent.takes.set()
    await serving
    assert len(sent.body) == 100_000


async def test_an_answer_that_breaks_off_is_no_whole_one() -> None:
    """The server hears of the error, and so cuts the connection; no last part ends the answer."""

    async def parts() -> AsyncIterator[bytes]:
        yield b"half"
        raise httpx.ReadError("gone")

    sent = Exchange()
    with pytest.raises(httpx.ReadError):
        await sent.through(forward_to(Origin(httpx.Response(200, content=parts()))))
    assert [event.get("more_body", True) for event in sent.events] == [True, True]


async def test_one_address_takes_its_share_of_the_connections() -> None:
    """Slow requests of one address leave connections to others."""
    opens = asyncio.Event()

    async def slow(_: httpx.Request) -> httpx.Response:
        await opens.wait()
        return answer_of()

    forward = forward_to(Origin(handler=slow))
    many = [asyncio.ensure_future(Exchange().through(forward)) for _ in range(MAX_PER_ADDRESS)]
    await asyncio.sleep(0)
    assert (await Exchange().through(forward)).status == 503
    opens.set()
    other = Exchange()
    other.scope["client"] = ("198.51.100.8", 1)
    assert (await other.through(forward)).status == 200
    assert {sent.status for sent in await asyncio.gather(*many)} == {200}
    assert (await Exchange().through(forward)).status == 200


async def test_forwarded_requests_are_observed() -> None:
    """Metrics and the access log have forwarded requests too, with the origin's request id."""
    seen: list[tuple[str, int]] = []
    origin = Origin(answer_of(404, {"X-Request-ID": "theirs"}))
    forward = Forward(
        "ws://origin:1",
        (),
        refusing=refuse,
        observers=[lambda scope, status, _: seen.append((request_state(scope).request_id, status))],
        transport=origin,
    )
    await Exchange().through(forward)
    assert seen == [("theirs", 404)]
    await forward.close()


async def test_only_http_leaves_the_edge() -> None:
    """Sockets stay at the edge, whatever their path."""
    went: list[str] = []

    def app(name: str) -> Any:
        async def serve(*_: Any) -> None:
            went.append(name)

        return serve

    both = dispatch(app("local"), app("remote"), lambda scope: scope["path"] == "/here")
    for kind, path in (("http", "/here"), ("http", "/there"), ("websocket", "/there")):
        await both({"type": kind, "path": path}, None, None)
    assert went == ["local", "remote", "local"]
