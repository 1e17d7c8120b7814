"""WebSocket frames as bytes, shared by all connections that send the same message."""

import struct
from typing import Final, Protocol

from websockets.frames import Opcode

from quotecast.stream.deflate import deflated

#: The bit RSV1, which marks a compressed message (RFC 7692, section 6).
_COMPRESSED: Final = 0x40

#: Compression of a smaller message saves less than it costs.
LEAST_DEFLATED_BYTES: Final = 1024
#: A larger message is compressed for a single client too, one between the two bounds only for several.
LEAST_DEFLATED_ALONE_BYTES: Final = 16_384


class Encode(Protocol):
    """Encodes messages as WebSocket frames."""

    def __call__(self, message: str | bytes, *, deflates: bool) -> bytes:
        """Returns a text or binary message as one frame, compressed only if the client accepts that."""
        ...


def frame_encoder() -> Encode:
    """Returns an encoder that remembers the last message, which the hub gives to many clients in a row."""
    last: str | bytes | None = None
    plain = b""
    #: Clients that accept compression and got the last message.
    clients = 0
    #: Separate from `last`: a large snapshot stays here between the greetings of its clients.
    last_compressed: str | bytes | None = None
    compressed = b""

    def encode(message: str | bytes, *, deflates: bool) -> bytes:
        nonlocal last, plain, clients, last_compressed, compressed
        if deflates and message is last_compressed:
            return compressed
        if message is not last:
            last, plain, clients = message, _plain_frame(message), 0
        if not deflates or len(plain) < LEAST_DEFLATED_BYTES:
            return plain
        clients += 1
        if clients == 1 and len(plain) < LEAST_DEFLATED_ALONE_BYTES:
            return plain
        last_compressed, compressed = message, _compressed_frame(message)
        return compressed

    return encode


def _plain_frame(message: str | bytes) -> bytes:
    return _unmasked(*_opcode_and_payload(message))


def _compressed_frame(message: str | bytes) -> bytes:
    opcode, payload = _opcode_and_payload(message)
    return _unmasked(opcode | _COMPRESSED, deflated(payload))


def _opcode_and_payload(message: str | bytes) -> tuple[int, bytes]:
    return (Opcode.TEXT, message.encode()) if isinstance(message, str) else (Opcode.BINARY, message)


def _unmasked(opcode: int, payload: bytes) -> bytes:
    """Returns a whole message in one frame, as servers send it (RFC 6455, section 5.2)."""
    length = len(payload)
    if length < 126:
        return struct.pack("!BB", 0x80 | opcode, length) + payload
    if length < 1 << 16:
        return struct.pack("!BBH", 0x80 | opcode, 126, length) + payload
    return struct.pack("!BBQ", 0x80 | opcode, 127, length) + payload
