"""WebSocket frames as bytes, shared by all connections that send the same message."""

import struct
from typing import Final, Protocol

from websockets.frames import Opcode

from quotecast.stream.deflate import deflate

#: The bit RSV1, which marks a compressed message (RFC 7692, section 6).
_COMPRESSED: Final = 0x40

#: Compression of a smaller message saves less than it costs.
LEAST_DEFLATED_BYTES: Final = 1024


class Encode(Protocol):
    """Encodes messages as WebSocket frames."""

    def __call__(self, message: str | bytes, *, deflates: bool) -> bytes:
        """Returns a text or binary message as one frame, compressed only if the client accepts that."""
        ...


def frame_encoder() -> Encode:
    """Returns an encoder that remembers the last message, which the hub gives to many clients in a row.

    It compresses a message for its second client and those after it. For a client alone, compression costs
    several times what the frame costs otherwise: 65 µs for 100 quotes, 550 µs for 500.
    """
    last: str | bytes | None = None
    plain = b""
    #: The last message of a compressible size; small ones between the greetings of its clients do not count.
    candidate: str | bytes | None = None
    compressed = b""

    def encode(message: str | bytes, *, deflates: bool) -> bytes:
        nonlocal last, plain, candidate, compressed
        if deflates and message is candidate:
            compressed = compressed or _compressed_frame(message)
            return compressed
        if message is not last:
            last, plain = message, _plain_frame(message)
        if deflates and len(plain) >= LEAST_DEFLATED_BYTES:
            candidate, compressed = message, b""
        return plain

    return encode


def _plain_frame(message: str | bytes) -> bytes:
    return _unmasked(*_opcode_and_payload(message))


def _compressed_frame(message: str | bytes) -> bytes:
    opcode, payload = _opcode_and_payload(message)
    return _unmasked(opcode | _COMPRESSED, deflate(payload))


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
