"""Handshakes in the usual form are answered as `websockets` answers them, and others are left to it."""

import asyncio
from email.utils import parsedate_to_datetime
from typing import Any, cast

import pytest
from websockets.http11 import Request
from websockets.server import ServerProtocol

from quotecast.stream.handshakes import (
    EXTENSION,
    MAX_BYTES,
    accepting,
    read_upgrade,
    scope_of,
    scope_of_upgrade,
)

NOW = 1_700_000_000.25
PLAIN = (
    b"GET /api/ws/market?symbols=A%2FB HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
BROWSER = (
    b"GET /api/ws HTTP/1.1\r\nHost: shop.example:8000\r\nUser-Agent: M\xfczilla/5.0 (X11)\r\nAccept: */*\r\n"
    b"Sec-WebSocket-Version: 13\r\nOrigin:https://shop.example \t\r\n"
    b"Sec-WebSocket-Protocol: quotecast.v1.rows, quotecast.v1.json\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nConnection: keep-alive, Upgrade\r\n"
    b"Upgrade: WebSocket\r\n\r\n"
)


class Transport:
    """Knows the client's address."""

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return "127.0.0.1", 5


def with_header(line: bytes) -> bytes:
    return PLAIN.replace(b"\r\n\r\n", b"\r\n" + line + b"\r\n\r\n")


@pytest.mark.parametrize(
    "request_bytes",
    [
        PLAIN,
        BROWSER,
        with_header(b"Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=10"),
        with_header(b"Sec-WebSocket-Extensions: x-unknown, permessage-deflate"),
    ],
    ids=["plain", "browser", "small window", "unknown extension"],
)
def test_usual_handshake_has_the_answer_and_the_scope_of_websockets(request_bytes: bytes) -> None:
    """The answer has the same headers, the application sees the same scope."""
    protocol = ServerProtocol(extensions=[EXTENSION])
    protocol.receive_data(request_bytes)
    (request,) = protocol.events_received()
    assert isinstance(request, Request)
    theirs = protocol.accept(request)
    upgrade = read_upgrade(request_bytes)
    assert upgrade is not None
    first, *lines = accepting(upgrade, None, NOW).decode().split("\r\n")
    assert first == "HTTP/1.1 101 Switching Protocols"
    ours = dict(line.split(": ", 1) for line in lines if line)
    assert parsedate_to_datetime(ours.pop("Date")).timestamp() == int(NOW)
    assert ours == {name: value for name, value in theirs.headers.raw_items() if name != "Date"}
    scope: dict[str, Any] = scope_of(request, cast("asyncio.Transport", Transport()))
    assert scope_of_upgrade(upgrade, ("127.0.0.1", 5)) == scope


def test_subprotocol_of_the_application_is_in_the_answer() -> None:
    """A browser fails a connection without the subprotocol that it offered."""
    upgrade = read_upgrade(BROWSER)
    assert upgrade is not None
    assert upgrade.subprotocols == ("quotecast.v1.rows", "quotecast.v1.json")
    answer = accepting(upgrade, "quotecast.v1.json", NOW)
    assert answer.endswith(b"\r\nSec-WebSocket-Protocol: quotecast.v1.json\r\n\r\n")


@pytest.mark.parametrize(
    "request_bytes",
    [
        PLAIN[:-1],
        PLAIN + b"\x81",
        PLAIN.replace(b"GET", b"POST"),
        PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0"),
        PLAIN.replace(b"/api", b"/ api"),
        PLAIN.replace(b"Host: test\r\n", b""),
        PLAIN.replace(b"Host:", b"Host :"),
        PLAIN.replace(b"\r\nUpgrade:", b"\nUpgrade:"),
        PLAIN.replace(b": websocket", b": h2c"),
        PLAIN.replace(b"Connection: Upgrade", b"Connection: close"),
        PLAIN.replace(b"Version: 13", b"Version: 7"),
        PLAIN.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"short"),
        PLAIN.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"dGhlIHNhbXBsZSBub25jZQ=\xe9"),
        with_header(b"Host: other"),
        with_header(b"X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2"),
        with_header(b"Content-Length: 5"),
        with_header(b"Transfer-Encoding: chunked"),
        with_header(b"X: \x00"),
        with_header(b"Sec-WebSocket-Extensions: ;;"),
        with_header(b"Sec-WebSocket-Extensions:"),
        with_header(b"Sec-WebSocket-Protocol: a b"),
        with_header(b"X: " + b"a" * MAX_BYTES),
        with_header(b"\r\n".join(b"X-%d: 1" % number for number in range(130))),
        b"",
        b"\x16\x03\x01\x00\xff\r\n\r\n",
    ],
)
def test_any_other_request_is_left_to_websockets(request_bytes: bytes) -> None:
    """A wrong request gets the answer of the library, which is strict and tested."""
    assert read_upgrade(request_bytes) is None
