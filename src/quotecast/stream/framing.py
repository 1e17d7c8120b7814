"""The bytes on the wire of WebSocket messages, which connections share."""

import struct
from typing import Final, Protocol

from websockets.frames import Opcode

from quotecast.stream.deflate import deflated

#: The bit RSV1, which marks a compressed message (RFC 7692, section 6).
_COMPRESSED: Final = 0x40

#: Compressing smaller messages saves less than their headers cost.
LEAST_DEFLATED_BYTES: Final = 1024
#: Larger messages are compressed for a single client too; those between only for clients that share one.
LEAST_DEFLATED_ALONE_BYTES: Final = 16_384


class Written(Protocol):
    """Gives messages their bytes on the wire."""

    def __call__(self, message: str | bytes, *, deflates: bool) -> bytes:
        """Returns a text or binary message as one frame, compressed only if the client reads that."""
        ...


def shared() -> Written:
    """Returns a function that remembers the last message: the hub sends one to all its clients in a row."""
    last: str | bytes | None = None
    plain = b""
    #: Clients that could have been sent the last message compressed.
    clients = 0
    #: A large snapshot stays here while other messages come and go between those who ask for it.
    last_compressed: str | bytes | None = None
    compressed = b""

    def written(message: str | bytes, *, deflates: bool) -> bytes:
        nonlocal last, plain, clients, last_compressed, compressed
        if deflates and message is last_compressed:
            return compressed
        if message is not last:
            last, plain, clients = message, _plain(message), 0
        if not deflates or len(plain) < LEAST_DEFLATED_BYTES:
            return plain
        clients += 1
        if clients == 1 and len(plain) < LEAST_DEFLATED_ALONE_BYTES:
            return plain
        last_compressed, compressed = message, _compressed(message)
        return compressed

    return written


def _plain(message: str | bytes) -> bytes:
    return _unmasked(*_opcode_and_payload(message))


def _compressed(message: str | bytes) -> bytes:
    opcode, payload = _opcode_and_payload(message)
    return _unmasked(opcode | _COMPRESSED, deflated(payload))


def _opcode_and_payload(message: str | bytes) -> tuple[int, bytes]:
    return (Opcode.TEXT, message.encode()) if isinstance(message, str) else (Opcode.BINARY, message)


def _unmasked(opcode: int, payload: bytes) -> bytes:
    """A whole message in one frame, as servers send it (RFC 6455, section 5.2)."""
    length = len(payload)
    if length < 126:
        return struct.pack("!BB", 0x80 | opcode, length) + payload
    if length < 1 << 16:
        return struct.pack("!BBH", 0x80 | opcode, 126, length) + payload
    return struct.pack("!BBQ", 0x80 | opcode, 127, length) + payload
