"""Encodings of frames: each WebSocket subprotocol has a notation and perhaps a compression."""

import zlib
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from quotecast.market.codec import Notation

#: Higher levels save little on small frames, and each frame is sent once.
DEFLATE_LEVEL: Final = 1

Frame = str | bytes


class Encoding(NamedTuple):
    """One way to encode frames; clients with equal subscriptions share an encoded frame."""

    subprotocol: str
    #: The notation of the quotes within a frame.
    notation: Notation
    write: Callable[[Struct], Frame]


_json: Final = msgspec.json.Encoder()
_msgpack: Final = msgspec.msgpack.Encoder()


def _text(frame: Struct) -> str:
    return str(_json.encode(frame), "utf-8")


def _deflate(frame: Struct) -> bytes:
    """Returns raw deflate (RFC 1951); each frame is compressed by itself, so that clients can share it."""
    squeeze = zlib.compressobj(DEFLATE_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeeze.compress(_json.encode(frame)) + squeeze.flush()


JSON: Final = Encoding("quotecast.v1.json", "json", _text)
MSGPACK: Final = Encoding("quotecast.v1.msgpack", "msgpack", _msgpack.encode)
DEFLATE: Final = Encoding("quotecast.v1.json.deflate", "json", _deflate)

ENCODINGS: Final = (JSON, MSGPACK, DEFLATE)


def negotiate(offered: list[str]) -> Encoding | None:
    """Returns the encoding of the first supported subprotocol that the client offers; None without one."""
    known = {encoding.subprotocol: encoding for encoding in ENCODINGS}
    return next((known[name] for name in offered if name in known), None)
