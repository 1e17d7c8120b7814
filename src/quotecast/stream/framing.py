"""WebSocket frames as bytes, shared by all connections that send the same message."""

import struct
from collections.abc import Callable

from websockets.frames import Opcode

#: Returns the bytes on the wire of a text or binary message.
Encode = Callable[[str | bytes], bytes]


def frame_encoder() -> Encode:
    """Returns an encoder that remembers the last frame, which the hub gives to many clients."""
    last: str | bytes = b""
    data = b""

    def encode(frame: str | bytes) -> bytes:
        nonlocal last, data
        if frame is not last or not data:
            if isinstance(frame, str):
                data = _unmasked(Opcode.TEXT, frame.encode())
            else:
                data = _unmasked(Opcode.BINARY, frame)
            last = frame
        return data

    return encode


def _unmasked(opcode: Opcode, payload: bytes) -> bytes:
    """Returns a whole message in one frame, as servers send it (RFC 6455, section 5.2)."""
    length = len(payload)
    if length < 126:
        return struct.pack("!BB", 0x80 | opcode, length) + payload
    if length < 1 << 16:
        return struct.pack("!BBH", 0x80 | opcode, 126, length) + payload
    return struct.pack("!BBQ", 0x80 | opcode, 127, length) + payload
