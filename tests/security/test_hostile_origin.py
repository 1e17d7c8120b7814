"""A hostile origin: an edge that follows it stays alive and bounded, and serves what was right before."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from quotecast.bus import remote as relay
from quotecast.bus import wire
from quotecast.bus.base import Batch, Beat
from quotecast.bus.remote import RemoteBus
from quotecast.bus.remote_wire import SUBPROTOCOL
from quotecast.errors import BusError, UnreadableState
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, INFO, stock
from support.runs.deadlines import scaled
from support.runs.waits import until

BEAT = wire.encode(Beat(feed=Feed.STOCKS, epoch=EPOCH, seq=1, info=INFO))
SECRET = "s" * 32
STORED = wire.encode({"seq": 1, "full_seq": 1, "quote": stock("AAPL")})


@contextlib.asynccontextmanager
async def origin(*answers: bytes, greeting: tuple[bytes, ...] = ()) -> AsyncIterator[RemoteBus]:
    """Yields a reader of an origin that greets with those frames, and answers questions with those."""
    given = [*answers]

    async def handle(connection: ServerConnection) -> None:
        for frame in greeting:
            await connection.send(frame)
        async for _ in connection:
            if given:
                await connection.send(given.pop(0))

    async with serve(handle, "127.0.0.1", 0, subprotocols=[SUBPROTOCOL], max_size=None) as server:  # type: ignore[list-item]
        port = next(iter(server.sockets)).getsockname()[1]
        yield RemoteBus(f"ws://127.0.0.1:{port}", SECRET)


def answer(state: Any) -> bytes:
    return wire.encode({"type": "answer", "state": state})


@pytest.mark.parametrize(
    "sent",
    [
        answer([1, 2]),
        answer([b"aa", 1, b"", [], [], []]),
        answer([b"\xff", b"1", wire.encode(INFO), [], [], []]),
        answer([b"aa", b"9" * 19, wire.encode(INFO), [], [], []]),
        answer([b"aa", b"x", wire.encode(INFO), [], [], []]),
        answer([b"aa", b"1", None, [], [], []]),
        answer([b"aa", b"1", wire.encode(INFO), [b"AAPL"], [], []]),
        answer([b"aa", b"1", wire.encode(INFO), [b"AAPL", b"\xc1"], [], []]),
        answer([b"aa", b"1", wire.encode(INFO), [b"\xff", STORED], [], []]),
        answer([b"aa", b"1", wire.encode(INFO), [], [], [[b"", b"", b""]]]),
        answer("text"),
        wire.encode({"type": "answer", "error": 5}),
    ],
    ids=str,
)
async def test_a_state_of_nonsense_is_unreadable(sent: bytes) -> None:
    """Nonsense in place of a state is the error that a reader expects, and nothing else."""
    async with origin(sent) as bus, bus.listen([Feed.STOCKS]):
        with pytest.raises(UnreadableState):
            await bus.load(Feed.STOCKS)


async def test_garbage_between_messages_is_passed_over() -> None:
    """Frames that are no messages, and unknown kinds, end nothing."""
    garbage = (b"", b"\xc1", b"\x91" * 100_000, wire.encode({"type": "gift"}), wire.encode({"type": "batch"}))
    async with origin(greeting=(*garbage, BEAT)) as bus, bus.listen([Feed.STOCKS]) as messages:
        async with asyncio.timeout(scaled(10)):
            assert await anext(messages) == msgspec.msgpack.decode(BEAT, type=Beat)


async def test_a_frame_too_large_ends_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """An edge reads no more of a frame than a state may have, whatever compression makes of it."""
    monkeypatch.setattr(relay, "MAX_FRAME_BYTES", 100_000)
    async with origin(greeting=(bytes(1_000_000),)) as bus, bus.listen([Feed.STOCKS]) as messages:
        # The contract's sign of a quiet bus comes after a second, and the error long before.
        with pytest.raises(BusError):
            await anext(messages)


async def test_messages_that_wait_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an origin sends faster than the edge reads is lost, and the edge's memory stays bounded."""
    monkeypatch.setattr(relay, "MAX_WAITING_BYTES", 10 * len(BEAT))
    answered = answer(None)
    async with origin(answered, greeting=(BEAT,) * 1000) as bus, bus.listen([Feed.STOCKS]) as messages:
        # The answer comes after the thousand.
        assert await bus.load(Feed.STOCKS) is None
        found = 0
        while await anext(messages) is not None:
            found += 1
        assert found == 10


async def test_an_origin_that_answers_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence in place of an answer ends the line after some seconds."""
    monkeypatch.setattr(relay, "SILENT_SECONDS", 0.05)
    async with origin() as bus, bus.listen([Feed.STOCKS]) as messages:
        with pytest.raises(BusError, match="no answer"):
            await bus.load(Feed.STOCKS)
        with pytest.raises(BusError):
            await anext(messages)


async def test_an_edge_survives_and_keeps_its_prices() -> None:
    """A worker whose origin turns hostile keeps the last right prices; only its feed becomes stale."""
    right = answer([EPOCH.encode(), b"1", wire.encode(INFO), [b"AAPL", STORED], [], []])
    wrong = [answer([1]), wire.encode({"type": "answer", "error": "", "content": b""})] * 3
    ahead = wire.encode(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2**60))
    mirror = Mirror(Feed.STOCKS)
    async with origin(right, *wrong, greeting=(ahead, b"\xc1", BEAT)) as bus:
        following = asyncio.create_task(BusListener(bus, {Feed.STOCKS: mirror}).run())
        await until(lambda: mirror.loaded and not mirror.readable)
        assert not following.done()
        assert mirror.quotes()["AAPL"].price == 100.0
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def test_a_redirect_takes_the_secret_nowhere() -> None:
    """The origin is the address in the settings: an edge follows no redirect from it."""
    seen: list[str] = []

    async def nowhere(_: ServerConnection, request: Request) -> Response:
        seen.append(request.path)
        return Response(302, "Found", Headers({"Location": "/elsewhere"}))

    async def handle(_: ServerConnection) -> None: ...

    async with serve(handle, "127.0.0.1", 0, process_request=nowhere) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with pytest.raises(BusError, match="HTTP 302"):
            async with RemoteBus(f"ws://127.0.0.1:{port}", SECRET).listen([Feed.STOCKS]):
                pass
    assert len(seen) == 1
