"""Handshakes in the form in which browsers and libraries send them, read in one pass.

`websockets` reads a request line by line, which took two fifths of a handshake's Python. A request in the
usual form arrives in one piece, has each header once, and nothing behind it. `websockets` reads any
other one, and answers every one that is wrong.
"""

import re
from base64 import b64encode
from email.utils import formatdate
from functools import lru_cache
from hashlib import sha1
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from websockets.datastructures import Headers
from websockets.exceptions import InvalidHandshake
from websockets.headers import parse_subprotocol
from websockets.server import ServerProtocol

from quotecast.stream.deflate import EXTENSION

#: Bytes of a request in the usual form.
MAX_BYTES: Final = 8192
#: Headers of a request, as in `websockets`.
MAX_HEADERS: Final = 128
#: Different headers of extensions and of subprotocols whose meaning stays in memory.
_MAX_KNOWN: Final = 64

_REQUEST: Final = re.compile(
    rb"GET (/[\x21-\x7e]*) HTTP/1\.1\r\n"
    rb"((?:[-!#$%&'*+.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)+)\r\n"
)
_KEY: Final = re.compile(rb"[A-Za-z0-9+/]{22}==")
#: RFC 6455, section 1.3.
_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#: What clients, and proxies in front of them, write in `Connection`; Firefox the second.
_CONNECTIONS: Final = (b"upgrade", b"keep-alive, upgrade")
#: Headers of a body, which a handshake has not.
_BODY: Final = (b"content-length", b"transfer-encoding")
_EXTENSIONS: Final = b"sec-websocket-extensions"
_SUBPROTOCOLS: Final = b"sec-websocket-protocol"


class Upgrade(NamedTuple):
    """A valid handshake that waits for its answer.

    `extensions` is the answer's header; it is empty unless the client may send and receive compressed
    messages.
    """

    target: bytes
    headers: list[tuple[bytes, bytes]]
    subprotocols: tuple[str, ...]
    key: bytes
    extensions: bytes


def read_upgrade(data: bytes) -> Upgrade | None:
    """Returns the handshake; None for a request that `websockets` has to read."""
    if len(data) > MAX_BYTES:
        return None
    request = _REQUEST.fullmatch(data)
    if request is None:
        return None
    lines = request[2].split(b"\r\n")[:-1]
    parts = [line.partition(b":") for line in lines]
    headers = [(name.lower(), value.strip(b" \t")) for name, _, value in parts]
    found = dict(headers)
    if len(found) != len(headers) or len(headers) > MAX_HEADERS or not _is_handshake(found):
        return None
    negotiated = _negotiate(found[_EXTENSIONS]) if _EXTENSIONS in found else b""
    offered = _offered(found[_SUBPROTOCOLS]) if _SUBPROTOCOLS in found else ()
    if negotiated is None or offered is None:
        return None
    return Upgrade(request[1], headers, offered, found[b"sec-websocket-key"], negotiated)


def scope_of_upgrade(upgrade: Upgrade, client: tuple[str, int]) -> dict[str, Any]:
    """Returns the ASGI scope of a handshake, as `handshakes.scope_of` does."""
    path, _, query = upgrade.target.partition(b"?")
    return {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": unquote(path.decode()),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": upgrade.headers,
        "client": client,
        "subprotocols": [*upgrade.subprotocols],
    }


def accepting(upgrade: Upgrade, subprotocol: str | None, now: float) -> bytes:
    """Returns the answer that accepts a handshake; `now` is Unix time."""
    accept = b64encode(sha1(upgrade.key + _GUID, usedforsecurity=False).digest())
    lines = [
        b"HTTP/1.1 101 Switching Protocols",
        b"Date: " + _date(int(now)),
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Accept: " + accept,
    ]
    if upgrade.extensions:
        lines.append(b"Sec-WebSocket-Extensions: " + upgrade.extensions)
    if subprotocol:
        lines.append(b"Sec-WebSocket-Protocol: " + subprotocol.encode())
    return b"\r\n".join([*lines, b"", b""])


def _is_handshake(found: dict[bytes, bytes]) -> bool:
    """Returns whether headers, each of which came once, are those of a valid handshake."""
    return (
        b"host" in found
        and found.get(b"upgrade", b"").lower() == b"websocket"
        and found.get(b"connection", b"").lower() in _CONNECTIONS
        and found.get(b"sec-websocket-version") == b"13"
        and _KEY.fullmatch(found.get(b"sec-websocket-key", b"")) is not None
        and not any(name in found for name in _BODY)
    )


@lru_cache(maxsize=_MAX_KNOWN)
def _negotiate(header: bytes) -> bytes | None:
    """Returns the answer to a header of extensions, empty for none; None if the header is malformed."""
    protocol = ServerProtocol(extensions=[EXTENSION])
    asked = Headers([(_EXTENSIONS.decode(), header.decode("latin-1"))])
    try:
        answer, _ = protocol.process_extensions(asked)
    except InvalidHandshake:
        return None
    return (answer or "").encode()


@lru_cache(maxsize=_MAX_KNOWN)
def _offered(header: bytes) -> tuple[str, ...] | None:
    """Returns the subprotocols of a header; None if it is malformed."""
    try:
        return tuple(parse_subprotocol(header.decode("latin-1")))
    except InvalidHandshake:
        return None


@lru_cache(maxsize=1)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
