"""Server-sent events: a feed's frames as lines of text (HTML standard, section 9.2.5).

A frame that moves the client's cursor has it as `id`, which `EventSource` sends back as `Last-Event-ID`. All
frames are plain messages, so that one handler reads them. A heartbeat is a comment, unless it announces
another state of its feed: pages do not see comments. The comment has no empty line after it, which some
libraries take for an event without data.
"""

import struct
from typing import Final

import msgspec
from msgspec import Struct

from quotecast.feed.encoding import JSON, Encoding
from quotecast.feed.frames import cursor_of, retry_of
from quotecast.framing import LEAST_DEFLATED_BYTES, TAIL, Frame, deflate

#: The beginning of a gzip stream (RFC 1952, section 2.3): deflate, no name, no time.
GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
#: The most bytes of a stored block (RFC 1951, section 3.2.4).
MAX_STORED_BYTES: Final = 65_535


_json: Final = msgspec.json.Encoder()


class SseEvent(Frame):
    """Lines of an event stream, and their bytes as a part of a gzip stream; each is one HTTP chunk.

    A part ends at a byte's boundary and depends on no other part, so that the streams of all clients share
    its bytes. Without chunks some libraries would hold events back until a buffer of theirs is full.
    """

    __slots__ = ()

    def __init__(self, text: bytes) -> None:
        self.binary = False
        self.items = 0
        self._length = len(text)
        self.plain = chunk(text)
        self._compressed = chunk(stored(text)) if len(text) < LEAST_DEFLATED_BYTES else None
        self.readers = 1

    @property
    def payload(self) -> bytes:
        """The lines."""
        return unchunked(self.plain)

    def compressed(self) -> bytes:
        """Returns the chunk for a client that accepts gzip; a client alone gets it uncompressed."""
        if self._compressed is None:
            if self.readers < 2:
                self.readers = 2
                return chunk(stored(self.payload))
            self._compressed = chunk(deflate(self.payload, self.readers) + TAIL)
        return self._compressed


def chunk(data: bytes) -> bytes:
    """Returns a chunk of a body (RFC 9112, section 7.1)."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def unchunked(data: bytes) -> bytes:
    """Returns the data of a chunk."""
    return data[data.index(b"\r\n") + 2 : -2]


def stored(data: bytes) -> bytes:
    """Returns blocks of deflate that hold the data uncompressed; none of them is the last of its stream."""
    parts = [data[at : at + MAX_STORED_BYTES] for at in range(0, len(data), MAX_STORED_BYTES)]
    return b"".join(struct.pack("<BHH", 0, len(part), len(part) ^ 0xFFFF) + part for part in parts)


def retry_line(milliseconds: int) -> SseEvent:
    """Returns the line that sets the delay of a client's reconnections."""
    return SseEvent(b"retry: %d\n" % milliseconds)


def _event(frame: Struct) -> SseEvent:
    cursor, retry = cursor_of(frame), retry_of(frame)
    lines = [] if retry is None else [b"retry: %d\n" % retry]
    if cursor:
        lines.append(b"id: %b\n" % cursor.encode())
    return SseEvent(b"".join([*lines, b"data: ", _json.encode(frame), b"\n\n"]))


#: The encoding of event streams; it is not a subprotocol of WebSockets.
EVENTS: Final = Encoding(
    "",
    "json",
    rows=False,
    write=_event,
    write_beat=lambda frame: SseEvent(b": %b\n" % _json.encode(frame)),
    join=JSON.join,
)
