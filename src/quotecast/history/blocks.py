"""Blocks of a segment: what one write appends to the file, and the unit that survives a crash.

A segment is a sequence of groups, a group a sequence of blocks. The first block of a group begins with a
keyframe, the whole state of the feed; after it follow the messages that were published. The blocks of a group
are one zstd stream, so each refers to earlier ones: independent blocks would have up to twice the bytes. A
damaged block costs the rest of its group.

A block is a header, with checksums of itself and of the data, and the compressed data. The raw data are
records: length (4 bytes), Unix time (8 bytes) and a message in the encoding of the bus. All numbers are
little-endian.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import BinaryIO, Final, NamedTuple
from zlib import crc32

import zstandard

#: A byte outside ASCII begins the mark, which begins each header.
MARK: Final = b"\xf1qcB"
#: Mark, kind, number in the group, length of the data, its length before compression, updates, times of the
#: first and the last record, and the checksum of the data. The checksum of these follows.
_HEADER: Final = struct.Struct("<4sBIIIIddI")
_CHECKSUM: Final = struct.Struct("<I")
HEADER_BYTES: Final = _HEADER.size + _CHECKSUM.size
_RECORD: Final = struct.Struct("<Id")
#: Bounds of a block, compressed or not, which bound the memory of a reader.
MAX_BLOCK_BYTES: Final = 64 << 20
#: A few bytes of zstd can mean 128 KB. Pieces of this size bound what one call of the decompressor returns.
_PIECE_BYTES: Final = 1024
_MAX_WINDOW_BYTES: Final = 8 << 20
_LEVEL: Final = 3


class Kind(IntEnum):
    """The kinds of blocks."""

    KEYFRAME = 1
    CHANGES = 2
    #: A keyframe after lost batches: from the block before it to this one the past is unknown.
    KEYFRAME_AFTER_LOSS = 3


class Damaged(Exception):
    """A block is not what a recorder wrote."""


class Block(NamedTuple):
    """The header of one block, and where it begins in its file."""

    offset: int
    kind: Kind
    number: int
    length: int
    raw_length: int
    updates: int
    #: Unix times of the first and the last record.
    first: float
    last: float
    checksum: int

    @property
    def end(self) -> int:
        """The offset behind the block."""
        return self.offset + HEADER_BYTES + self.length

    @property
    def begins_group(self) -> bool:
        """Returns whether the block holds a keyframe."""
        return self.kind is not Kind.CHANGES


class Record(NamedTuple):
    """One message of the bus, encoded, and the Unix time of its publication."""

    time: float
    message: bytes


class GroupEncoder:
    """Encodes the blocks of one group, in order; a new group needs a new encoder."""

    def __init__(self) -> None:
        self._stream = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
        self._parts: list[bytes] = []
        self._number = self._raw_length = self._updates = 0
        self._first = self._last = 0.0

    def __bool__(self) -> bool:
        """Returns whether there are records for a block."""
        return bool(self._raw_length)

    @property
    def raw_length(self) -> int:
        """The bytes that wait for a block."""
        return self._raw_length

    def add(self, time: float, message: bytes, updates: int) -> None:
        """Adds a record to the next block; times never go back."""
        record = _RECORD.pack(len(message), time) + message
        self._parts.append(self._stream.compress(record))
        self._first = self._first if self._raw_length else time
        self._last = time
        self._raw_length += len(record)
        self._updates += updates

    def take_block(self, kind: Kind) -> bytes:
        """Returns the header and the data of a block with all added records."""
        self._parts.append(self._stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
        data = b"".join(self._parts)
        lengths = (self._number, len(data), self._raw_length, self._updates)
        header = _HEADER.pack(MARK, kind, *lengths, self._first, self._last, crc32(data))
        self._number += 1
        self._parts, self._raw_length, self._updates = [], 0, 0
        return header + _CHECKSUM.pack(crc32(header)) + data


class GroupDecoder:
    """Decodes the blocks of one group, in order."""

    def __init__(self) -> None:
        self._stream = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES).decompressobj()
        self._number = 0

    def records(self, file: BinaryIO, block: Block) -> list[Record]:
        """Returns the records of the group's next block. Raises Damaged, also after a missing block."""
        if block.number != self._number:
            raise Damaged(f"a block before byte {block.offset} is missing")
        self._number += 1
        file.seek(block.offset + HEADER_BYTES)
        data = file.read(block.length)
        if len(data) != block.length or crc32(data) != block.checksum:
            raise Damaged(f"the block at byte {block.offset} has another checksum")
        raw, records, at = self._decompress(data, block), [], 0
        while at < len(raw):
            length, time = _RECORD.unpack_from(raw, at)
            at += _RECORD.size + length
            records.append(Record(time, raw[at - length : at]))
        return records

    def _decompress(self, data: bytes, block: Block) -> bytes:
        parts, length = [], 0
        try:
            for start in range(0, len(data), _PIECE_BYTES):
                parts.append(self._stream.decompress(data[start : start + _PIECE_BYTES]))
                length += len(parts[-1])
                if length > block.raw_length:
                    break
        except zstandard.ZstdError as error:
            raise Damaged(f"the block at byte {block.offset} is not zstd: {error}") from None
        if length != block.raw_length:
            raise Damaged(f"the block at byte {block.offset} has another length")
        return b"".join(parts)


def blocks_of(file: BinaryIO, offset: int) -> Iterator[Block]:
    """Yields the whole blocks of a file from an offset on, in order; skips bytes that are not a block."""
    size = file.seek(0, 2)
    while (block := _header_at(file, offset) or _next_header(file, offset + 1)) and block.end <= size:
        yield block
        offset = block.end


def _header_at(file: BinaryIO, offset: int) -> Block | None:
    file.seek(offset)
    return _parse(file.read(HEADER_BYTES), offset)


def _next_header(file: BinaryIO, offset: int) -> Block | None:
    """Returns the first header behind damaged bytes; None without one."""
    file.seek(offset)
    rest = file.read()
    at = rest.find(MARK)
    while at >= 0:
        if block := _parse(rest[at : at + HEADER_BYTES], offset + at):
            return block
        at = rest.find(MARK, at + 1)
    return None


def _parse(header: bytes, offset: int) -> Block | None:
    if len(header) < HEADER_BYTES or header[-4:] != _CHECKSUM.pack(crc32(header[:-4])):
        return None
    mark, kind, *numbers = _HEADER.unpack(header[:-4])
    if mark != MARK or kind not in {*Kind}:
        return None
    block = Block(offset, Kind(kind), *numbers)
    return block if max(block.length, block.raw_length) <= MAX_BLOCK_BYTES else None
