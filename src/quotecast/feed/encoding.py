"""Encodings of frames: each WebSocket subprotocol has a notation, and perhaps rows or a compression."""

import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw, Struct

from quotecast.framing import DEFLATE_LEVEL, WINDOW_BITS, Frame
from quotecast.market.codec import Notation


class Encoding(NamedTuple):
    """One way to encode frames; clients with equal subscriptions share an encoded frame."""

    subprotocol: str
    notation: Notation
    #: Whether quotes are rows, and not objects.
    rows: bool
    write: Callable[[Struct], Frame]
    #: Encodes a heartbeat that announces no other state of its feed.
    write_beat: Callable[[Struct], Frame]
    #: Joins quotes that are encoded already to an array of a frame.
    join: Callable[[Sequence[bytes]], Raw]


_json: Final = msgspec.json.Encoder()
_msgpack: Final = msgspec.msgpack.Encoder()


def _text(frame: Struct) -> Frame:
    return Frame(_json.encode(frame))


def _packed(frame: Struct) -> Frame:
    return Frame(_msgpack.encode(frame), binary=True)


def _deflated(frame: Struct) -> Frame:
    """Returns raw deflate (RFC 1951); each frame is compressed by itself, so that clients can share it."""
    squeeze = zlib.compressobj(DEFLATE_LEVEL, zlib.DEFLATED, -WINDOW_BITS)
    return Frame(squeeze.compress(_json.encode(frame)) + squeeze.flush(), binary=True)


def _join_json(items: Sequence[bytes]) -> Raw:
    return Raw(b"[%b]" % b",".join(items))


def _join_packed(items: Sequence[bytes]) -> Raw:
    """Returns an array in MessagePack, whose header has one of three lengths."""
    count = len(items)
    if count < 16:
        head = struct.pack("!B", 0x90 | count)
    elif count < 1 << 16:
        head = struct.pack("!BH", 0xDC, count)
    else:
        head = struct.pack("!BI", 0xDD, count)
    return Raw(head + b"".join(items))


JSON: Final = Encoding(
    "quotecast.v1.json", "json", rows=False, write=_text, write_beat=_text, join=_join_json
)
MSGPACK: Final = Encoding(
    "quotecast.v1.msgpack", "msgpack", rows=False, write=_packed, write_beat=_packed, join=_join_packed
)
ROWS: Final = Encoding("quotecast.v1.rows", "json", rows=True, write=_text, write_beat=_text, join=_join_json)
PACKED_ROWS: Final = Encoding(
    "quotecast.v1.rows.msgpack", "msgpack", rows=True, write=_packed, write_beat=_packed, join=_join_packed
)
DEFLATE: Final = Encoding(
    "quotecast.v1.json.deflate", "json", rows=False, write=_deflated, write_beat=_deflated, join=_join_json
)

ENCODINGS: Final = (JSON, MSGPACK, ROWS, PACKED_ROWS, DEFLATE)


def negotiate(offered: list[str]) -> Encoding | None:
    """Returns the encoding of the first supported subprotocol that the client offers; None without one."""
    known = {encoding.subprotocol: encoding for encoding in ENCODINGS}
    return next((known[name] for name in offered if name in known), None)
