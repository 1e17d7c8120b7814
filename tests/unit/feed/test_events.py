"""Frames as server-sent events: their lines, ids and comments, and parts of gzip streams."""

import zlib
from itertools import chain

import pytest
from msgspec import UNSET, Raw

from quotecast.feed import frames
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import CommandError, Query
from quotecast.feed.frames import Limits, Place
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mark
from quotecast.feed.sse import EVENTS, GZIP_HEADER, MAX_STORED_BYTES, SseEvent, retry_line, stored, unchunked
from quotecast.feed.tiers import Connection
from quotecast.market.feeds import Feed
from support.stages.feed_session import made_mirror, move

MARK = Mark(1, "e1", 12)


def text_of(frame: object) -> str:
    return EVENTS.write(frame).payload.decode()  # type: ignore[arg-type]  # frames are structs


def test_a_frame_that_moves_the_cursor_has_it_as_id() -> None:
    """The data is the frame as on a WebSocket, in one line."""
    assert text_of(frames.update(UNSET, MARK, Raw(b"[]"))) == (
        'id: e1-12\ndata: {"type":"update","epoch":"e1","seq":12,"data":[]}\n\n'
    )


@pytest.mark.parametrize(
    "frame",
    [
        frames.welcome(Feed.STOCKS, MARK, 15_000, Limits(), "c1"),
        frames.subscribed(UNSET, ["AAPL"], [], 250),
        frames.bars(UNSET, Place("", 0), "1m", Raw(b"[]"), reason="subscribe"),
    ],
    ids=["welcome", "subscribed", "first bars"],
)
def test_a_frame_that_is_no_cursor_has_no_id(frame: object) -> None:
    """The welcome comes before any quote: a client that resumed from it would miss changes."""
    assert text_of(frame).startswith("data: {")


def test_a_shutdown_sets_the_delay() -> None:
    assert text_of(frames.shutdown(131)) == 'retry: 131\ndata: {"type":"shutdown","retryAfterMs":131}\n\n'
    assert retry_line(131).payload == b"retry: 131\n"


def test_heartbeats_are_comments_unless_they_announce_another_state() -> None:
    """A comment has no empty line after it: some libraries would report an event without data."""
    session = ClientSession([made_mirror()], Limits(), EVENTS).feeds["market"]
    usual = session.heartbeat("now", "live", "open").payload
    assert usual.startswith(b': {"type":"heartbeat"')
    assert usual.count(b"\n") == 1
    announced = session.heartbeat("now", "stale", "open", announces=True).payload.split(b"\n")
    assert announced[0].startswith(b"id: ")
    assert b'"feed":"stale"' in announced[1]


@pytest.mark.parametrize("length", [0, 1, MAX_STORED_BYTES, MAX_STORED_BYTES + 1, 200_000])
def test_stored_blocks_hold_any_length(length: int) -> None:
    data = bytes(length)
    assert zlib.decompressobj(-15).decompress(stored(data)) == data


def test_parts_of_clients_make_whole_gzip_streams() -> None:
    """Each client joins at its own event, and gets small, uncompressed and compressed parts in any order."""
    events = [SseEvent(b"data: %d\n\n" % size + b"x" * size) for size in (1, 5000, 1023, 100_000, 1024)]
    first = [unchunked(event.compressed()) for event in events]
    later = [unchunked(event.compressed()) for event in events]
    assert sum(map(len, later)) < sum(map(len, first)) / 10
    for begin in range(len(events)):
        for parts in (first, later, [*chain(*zip(first, later, strict=True))][1::2]):
            read = zlib.decompressobj(31).decompress(GZIP_HEADER + b"".join(parts[begin:]))
            assert read == b"".join(event.payload for event in events[begin:])


def test_an_event_is_a_chunk() -> None:
    """Libraries hand a chunk over at once; they would wait for more of a body without chunks."""
    assert retry_line(131).plain == b"b\r\nretry: 131\n\r\n"


def test_compression_is_shared() -> None:
    event = SseEvent(b"x" * 2000)
    assert event.compressed() != event.compressed()
    assert event.compressed() is event.compressed()


class Reader:
    ready = True
    paused_at = 0.0

    def __init__(self) -> None:
        self.events: list[object] = []

    def write(self, frame: object) -> None:
        self.events.append(frame)


def test_equal_streams_share_an_event() -> None:
    """The hub encodes it once for all of them, as on WebSockets."""
    mirror = made_mirror()
    mirror.heard_at = 0.0
    hub = Hub(mirror, heartbeat_seconds=15, clock=lambda: 0.0, wall_clock=lambda: 0.0, market=lambda: "open")
    readers = [Reader(), Reader()]
    for reader in readers:
        session = ClientSession([mirror], Limits(), EVENTS)
        session.open_stream(Query("all"), None)
        hub.join(Connection(session.feeds["market"], reader, lambda _: True))
    move(mirror, "AAPL", 7.0)
    hub.tick(250)
    assert isinstance(readers[0].events[-1], SseEvent)
    assert readers[0].events[-1] is readers[1].events[-1]


def test_a_wrong_address_raises() -> None:
    """A stream answers it with a status; a WebSocket has an error frame."""
    session = ClientSession([made_mirror()], Limits(), EVENTS)
    with pytest.raises(CommandError, match="heartbeat"):
        session.open_stream(Query("all"), "61")
    with pytest.raises(CommandError, match="interval"):
        session.open_stream(Query("all", interval="7"), None)
