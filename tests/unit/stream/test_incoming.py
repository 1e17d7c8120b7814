"""The parser of a client's frames, which exists only while frames arrive."""

import itertools
import random
import struct

import pytest
from websockets.frames import Frame

from quotecast.stream.incoming import Borders, Incoming, open_connection


def masked(payload: bytes, opcode: int = 0x81) -> bytes:
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", opcode, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", opcode, 0xFE, size)
    else:
        head = struct.pack("!BBQ", opcode, 0xFF, size)
    return head + bytes(4) + payload


def pieces(data: bytes, chance: random.Random) -> list[bytes]:
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(4)))
    return [data[start:end] for start, end in itertools.pairwise([0, *cuts, len(data)]) if start < end]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_borders_are_at_the_ends_of_frames_only(size: int) -> None:
    """Wherever the bytes are cut, also inside a header."""
    frame = masked(b"x" * size)
    for cut in {1, 2, 3, 5, 6, 8, 13, 14, len(frame) - 1} & set(range(1, len(frame))):
        borders = Borders()
        borders.pass_over(masked(b"before") + frame[:cut])
        assert not borders.between_frames
        borders.pass_over(frame[cut:])
        assert borders.between_frames


def test_a_new_parser_at_rest_reads_what_the_old_one_would() -> None:
    """Messages in pieces of any size come out whole, although the parser changes whenever it is at rest."""
    chance = random.Random(24)
    messages = [bytes([97 + chance.randrange(26)]) * chance.choice([0, 3, 200, 3000]) for _ in range(60)]
    frames = [
        frame
        for each in messages
        for frame in chance.choice(
            [[masked(each)], [masked(each, 0x01), masked(b"?", 0x89), masked(b"", 0x80)]]
        )
    ]
    found: list[bytes] = []
    incoming: Incoming | None = None
    changes = 0
    for frame in frames:
        for piece in pieces(frame, chance):
            incoming = incoming or open_connection(compresses=False)
            for event in incoming.receive(piece):
                assert isinstance(event, Frame)
                message = incoming.assembly.add(event)
                if message is not None:
                    assert isinstance(message, str)
                    found.append(message.encode())
            if incoming.is_at_rest:
                incoming, changes = None, changes + 1
    assert found == messages
    assert changes == len(messages)


def test_a_closed_connection_keeps_its_parser() -> None:
    """It knows the close code, and discards what follows."""
    incoming = open_connection(compresses=False)
    incoming.receive(masked(struct.pack("!H", 1000), 0x88))
    assert not incoming.is_at_rest
    assert incoming.protocol.close_rcvd is not None
