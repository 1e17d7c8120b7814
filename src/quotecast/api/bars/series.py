"""Bars as the cache stores them: all bars but the last two are encoded and compressed once.

The last ones differ from answer to answer. They are appended to the encoded bytes and to the compressed ones:
a flushed deflate stream can be continued, and so can a CRC-32.
"""

import zlib
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import msgspec
from msgspec import Struct

from quotecast.api.answers.answers import SharedBody, content_tag
from quotecast.market.bars import Bar
from quotecast.market.codec import encode_json

#: Version of the cached format, in the cache key: a worker never reads another version's entries.
VERSION: Final = 2
#: For two seconds after its end a bar may still change, beside the one in progress.
_OPEN: Final = 2

_LEVEL: Final = 1
#: Magic number, deflate, no flags, no time, fastest, system unknown (RFC 1952, 2.3).
_GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
_BETWEEN: Final = b"},{"


class BarSeries(Struct, frozen=True):
    """Bars in ascending order; the last two may change."""

    #: Number of closed bars, and their JSON: the beginning of an array, with a comma after each bar.
    count: int
    head: bytes
    tag: bytes
    #: The head as an unfinished raw deflate stream, and its CRC-32.
    deflated: bytes
    checksum: int
    last: Sequence[Bar]


def series_of(bars: Sequence[Bar]) -> BarSeries:
    """Returns the series of some bars; takes about 20 ms per megabyte."""
    closed, last = bars[:-_OPEN], bars[-_OPEN:]
    head = b"[%b" % encode_json(closed)[1:-1] + (b"," if closed else b"")
    squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    deflated = squeeze.compress(head) + squeeze.flush(zlib.Z_SYNC_FLUSH)
    return BarSeries(len(closed), head, content_tag(head), deflated, zlib.crc32(head), last)


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(BarSeries).decode


def document(series: BarSeries, tail: Sequence[Bar], limit: int | None = None) -> SharedBody:
    """Returns the closed bars of a series followed by `tail`; with a limit, only the newest of them."""
    if limit is None or series.count + len(tail) <= limit:
        return _ContinuedSeries(series, _tail_json(tail))
    tail = tail[-limit:]
    count = limit - len(tail)
    # Bars contain no nested objects.
    dropped = series.count - count
    head = b"[{" + series.head.split(_BETWEEN, dropped)[dropped] if count else b"["
    return SharedBody(head + _tail_json(tail))


class _ContinuedSeries(SharedBody):
    """A whole series with its tail; tag and gzip continue those of the closed bars."""

    def __init__(self, series: BarSeries, tail: bytes) -> None:
        super().__init__(series.head + tail)
        self._series = series
        self._tail = tail

    @cached_property
    def tag(self) -> bytes:
        return content_tag(self._series.tag + self._tail)

    @cached_property
    def gzipped(self) -> bytes:
        squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        return b"".join(
            (
                _GZIP_HEADER,
                self._series.deflated,
                squeeze.compress(self._tail),
                squeeze.flush(),
                zlib.crc32(self._tail, self._series.checksum).to_bytes(4, "little"),
                (len(self.body) % 2**32).to_bytes(4, "little"),
            )
        )


def _tail_json(tail: Sequence[Bar]) -> bytes:
    return encode_json(tail)[1:]
