"""Raw requests: a worker answers any bytes, or closes the connection, and goes on."""

import contextlib
import http.client
import json
import socket
from typing import Final, NamedTuple

import pytest

from support.servers.processes import running_valkey
from support.servers.service import Service
from support.servers.whole_service import Whole

DEADLINE_SECONDS: Final = 20.0
LOGIN: Final = "POST /api/auth/login HTTP/1.1\r\nHost: quotecast\r\n"
BODY: Final = b'{"email":"nobody@example.com","password":"long enough a password"}'
#: Malformed requests by their defect: the head's last lines, and the body.
BODIES: Final = {
    "longer than it says": ("Content-Length: 5", BODY),
    "no length": ("", BODY),
    "a negative length": ("Content-Length: -1", BODY),
    "a length that is no number": ("Content-Length: 1e3", BODY),
    "a huge length": ("Content-Length: 99999999999999999999999", BODY),
    "two lengths": (f"Content-Length: 5\r\nContent-Length: {len(BODY)}", BODY),
    "a length and chunks": (
        f"Content-Length: {len(BODY)}\r\nTransfer-Encoding: chunked",
        b"0\r\n\r\n" + BODY,
    ),
    "chunks that are none": ("Transfer-Encoding: chunked", b"zz\r\n" + BODY),
    "a chunk of a huge size": ("Transfer-Encoding: chunked", b"ffffffffffffffffff\r\n" + BODY),
    "a coding twice": ("Transfer-Encoding: chunked, chunked", b"0\r\n\r\n"),
    "compressed, it says": (f"Content-Encoding: gzip\r\nContent-Length: {len(BODY)}", BODY),
    "80 KB and a byte": ("Content-Length: 81921", b" " * 81_921),
    "80 KB and a byte, it says": ("Content-Length: 81921", BODY),
}
#: Spellings of one path.
SPELLINGS: Final = (
    "/api/crypto/quotes/BTC%2FUSDT",
    "/api/crypto/quotes/BTC%2fUSDT",
    "/api/crypto/quotes/btc%2Fusdt",
    "/api/crypto/quotes/BTC/USDT",
    "/api/crypto/quotes/BTC-USDT",
    "/api/crypto/quotes/BTC%2DUSDT",
    "//api///crypto/quotes/BTC-USDT",
    "/api/crypto/quotes/BTC-USDT/",
    "/api/crypto/%71uotes/%42TC-USDT",
    "/api/crypto/quotes/BTC-USDT?a=b",
    "/api/crypto/quotes/BTC-USDT?symbols=%2e%2e",
)
#: Unknown paths that a careless parser would accept.
STRANGE: Final = (
    "/api/crypto/../auth/profile",
    "/api/crypto/%2e%2e/auth/profile",
    "/api/crypto/quotes/..%2f..%2fauth%2fprofile",
    "/api/crypto/quotes/%252e%252e%252fBTC",
    "/api/crypto/quotes/BTC%00USDT",
    "/api/crypto/quotes/BTC%0d%0aX-Bad:%201",
    "/api/market/quotes/AAPL%23",
    "/api/market/quotes/AAPL;jsessionid=1",
    "/api/market/quotes/%ff%fe",
    "/API/market/quotes/AAPL",
    "/" + "a" * 2000,
)


class RawAnswer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def read_response(service: Service, raw: bytes) -> bytes:
    """Returns the response of a worker, up to its first answer or the close."""
    answered = b""
    address = ("127.0.0.1", service.port)
    with socket.create_connection(address, timeout=DEADLINE_SECONDS) as client:
        # A worker may close before it has received everything.
        with contextlib.suppress(ConnectionError):
            client.sendall(raw)
        with contextlib.suppress(ConnectionError):
            while part := client.recv(65_536):
                answered += part
    return answered


def request(service: Service, path: str, method: str = "GET") -> RawAnswer:
    request = f"{method} {path} HTTP/1.1\r\nHost: quotecast\r\nConnection: close\r\n\r\n"
    head, _, body = read_response(service, request.encode()).partition(b"\r\n\r\n")
    line, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
    return RawAnswer(int(line.split()[1]), headers, body)


def test_all_spellings_have_one_window() -> None:
    """All spellings of a path share one window, and HEAD counts: each request leaves one less.

    Of one worker: others would count apart while Redis takes longer than the limiter waits.
    """
    with running_valkey() as redis, Service(redis) as service:
        service.start("ingest", "api")
        left = [int(request(service, path).headers["x-ratelimit-remaining"]) for path in SPELLINGS]
        left.append(int(request(service, SPELLINGS[0], "HEAD").headers["x-ratelimit-remaining"]))
    assert left == list(range(left[0], left[0] - len(left), -1))


@pytest.mark.parametrize("path", STRANGE)
def test_no_path_leads_elsewhere(whole: Whole, path: str) -> None:
    """Unknown paths get 404, and no header repeats them."""
    answer = request(whole.service, path)
    assert answer.status == 404
    assert "x-bad" not in answer.headers
    assert json.loads(answer.body)["detail"] in {"Not Found", "Symbol not found"}


@pytest.mark.parametrize("name", BODIES)
def test_no_body_confuses_a_worker(whole: Whole, name: str) -> None:
    """A malformed body gets at most one answer, no 5xx, and the worker serves the next request."""
    lines, body = BODIES[name]
    head = f"{LOGIN}Connection: close\r\n{lines}\r\n\r\n".replace("\r\n\r\n\r\n", "\r\n\r\n")
    answered = read_response(whole.service, head.encode() + body)
    assert answered.count(b"HTTP/1.1 ") <= 1
    assert not answered.startswith(b"HTTP/1.1 5")
    assert not answered.startswith(b"HTTP/1.1 2")
    assert request(whole.service, "/api/health").status == 200


#: Requests whose body no route reads, or not to its end.
UNREAD: Final = (
    "GET /api/market/status",
    "GET /api/market/quotes/AAPL",
    "GET /api/market/quotes/NOPE",
    "GET /api/market/bars/AAPL?limit=0",
    "GET /api/docs",
    "GET /",
    "GET /nothing",
    "GET /api/ws/market",
    "GET /api/events/market?symbols=NOPE,",
    "POST /api/market/status",
    "DELETE /api/market/quotes/AAPL",
    "OPTIONS /api/market/quotes/AAPL",
    "POST /api/auth/nothing",
    "POST /api/auth/logout",
    "GET /api/auth/profile",
    "POST /api/watchlist",
    "POST /api/auth/login",
    "POST /api/keys/ticket",
    "POST /mcp",
    "GET /" + "a" * 2000,
)


@pytest.mark.parametrize("size", [16, 300_000])
@pytest.mark.parametrize("target", UNREAD)
def test_an_unread_body_is_no_request(whole: Whole, target: str, size: int) -> None:
    """After an answer the connection ends, and says so, or has the next request's answer."""
    method, path = target.split(" ", 1)
    connection = http.client.HTTPConnection("127.0.0.1", whole.service.port, timeout=DEADLINE_SECONDS)
    with contextlib.closing(connection):
        connection.putrequest(method, path)
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(size))
        connection.endheaders()
        # The worker may answer before the body is there, and end the connection.
        with contextlib.suppress(ConnectionError):
            connection.send(b"[" + b" " * (size - 1))
        answer = connection.getresponse()
        answer.read()
        if answer.headers["connection"] != "close":
            connection.request("GET", "/api/health")
            assert connection.getresponse().status == 200


#: Ambiguous or incomplete heads, by their defect (RFC 9112, sections 3.2 and 6.1).
FRAMINGS: Final = {
    "two hosts": "Host: quotecast\r\nHost: other",
    "no host": "X: y",
    "chunked twice": "Host: quotecast\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "chunked twice in one line": "Host: quotecast\r\nTransfer-Encoding: chunked, chunked",
    "two credentials": "Host: quotecast\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b",
}


@pytest.mark.parametrize("name", FRAMINGS)
@pytest.mark.parametrize("target", ["/api/market/status", "/api/auth/profile", "/", "/api/ws/market"])
def test_a_request_has_one_meaning(whole: Whole, target: str, name: str) -> None:
    """The service rejects, in JSON, requests that a proxy in front may parse differently."""
    request = f"GET {target} HTTP/1.1\r\n{FRAMINGS[name]}\r\nConnection: close\r\n\r\n"
    chunks = b"0\r\n\r\n" if "chunked" in request else b""
    head, _, body = read_response(whole.service, request.encode() + chunks).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["code"] == "bad_request"


def test_an_old_client_names_no_host(whole: Whole) -> None:
    """HTTP/1.0 requires no Host header."""
    assert read_response(whole.service, b"GET /api/health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.0 200 ")


def test_a_head_is_bounded(whole: Whole) -> None:
    """The worker stops reading a long list of codings before its end."""
    request = b"GET /api/health HTTP/1.1\r\nHost: quotecast\r\nAccept-Encoding: "
    answer = read_response(whole.service, request + b"gzip," * 78_000 + b"\r\n\r\n")
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
