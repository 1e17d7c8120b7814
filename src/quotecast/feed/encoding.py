"""How frames are written: a subprotocol is a notation of the quotes and what is done to the whole."""

import zlib
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from quotecast.market.codec import Notation

#: Little is won by a higher level, and a frame lives for a moment.
DEFLATE_LEVEL: Final = 1

Frame = str | bytes


class Encoding(NamedTuple):
    """One way to write frames; a frame that many clients share is written once."""

    subprotocol: str
    #: How each quote is written.
    notation: Notation
    write: Callable[[Struct], Frame]


_json: Final = msgspec.json.Encoder()
_msgpack: Final = msgspec.msgpack.Encoder()


def _text(frame: Struct) -> str:
    return str(_json.encode(frame), "utf-8")


def _deflate(frame: Struct) -> bytes:
    """Raw deflate (RFC 1951): each frame stands alone, so that it can be shared."""
    squeeze = zlib.compressobj(DEFLATE_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeeze.compress(_json.encode(frame)) + squeeze.flush()


JSON: Final = Encoding("quotecast.v1.json", "json", _text)
MSGPACK: Final = Encoding("quotecast.v1.msgpack", "msgpack", _msgpack.encode)
DEFLATE: Final = Encoding("quotecast.v1.json.deflate", "json", _deflate)

ENCODINGS: Final = (JSON, MSGPACK, DEFLATE)


def negotiate(offered: list[str]) -> Encoding | None:
    """The first subprotocol of the client's list that is served; None if there is none."""
    known = {encoding.subprotocol: encoding for encoding in ENCODINGS}
    return next((known[name] for name in offered if name in known), None)
