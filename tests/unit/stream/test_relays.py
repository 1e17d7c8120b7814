"""The origin's side of relays, with a fake server and a fake bus."""

import asyncio
import hmac
from collections.abc import Callable, Generator, Sequence
from typing import Any, Self

import msgspec
import pytest

from quotecast.bus import remote_wire as relay_wire
from quotecast.bus import wire
from quotecast.bus.base import Batch, Beat
from quotecast.bus.remote_wire import MAX_QUESTION_BYTES, SUBPROTOCOL, Question, RemoteAnswer
from quotecast.errors import BusError
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from quotecast.stream.outlet import WRITER
from quotecast.stream.relays import (
    LOST_SECONDS,
    MAX_BEHIND_SECONDS,
    MAX_UNSENT_BYTES,
    MIN_THREADED_BYTES,
    Relays,
    _Shared,
)
from support.made.market import INFO
from support.runs.deadlines import scaled

SECRET = "s" * 32
BEAT = Beat(feed=Feed.STOCKS, epoch="aa", seq=1, info=INFO)
STATE = [b"aa", b"1", wire.encode(INFO), [], [], []]


class Line:
    """A fake connection: an ASGI server, and its socket."""

    def __init__(self, *messages: bytes | str) -> None:
        self.events: list[dict[str, Any]] = []
        self.frames: list[Frame] = []
        self.inbox: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        for message in messages:
            self.inbox.put_nowait(message)
        self.ready, self.paused_at, self.unsent = True, 0.0, 0

    def write(self, frame: Frame) -> None:
        self.frames.append(frame)

    def __await__(self) -> Generator[Any, None, "Line"]:
        if not self.ready:
            yield from asyncio.Event().wait().__await__()
        return self

    def send(self, event: dict[str, Any]) -> "Line":
        self.events.append(event)
        return self

    async def receive(self) -> dict[str, Any]:
        message = await self.inbox.get()
        if message is None:
            return {"type": "websocket.disconnect", "code": 1006}
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    def scope(
        self,
        authorization: bytes | None = b"Bearer " + SECRET.encode(),
        query: bytes = b"feeds=stocks",
        subprotocol: str = SUBPROTOCOL,
    ) -> dict[str, Any]:
        return {
            "headers": [(b"authorization", authorization)] if authorization is not None else [],
            "query_string": query,
            "subprotocols": [subprotocol],
            "extensions": {WRITER: self},
            "client": ("192.0.2.1", 1),
        }

    def answers(self) -> list[Any]:
        return [relay_wire.decode(frame.payload) for frame in self.frames]


class FakeBus:
    """A bus with one state, whose loads wait while `opens` is clear."""

    def __init__(self, state: Sequence[Any] = STATE) -> None:
        self.state = state
        self.error: Exception | None = None
        self.loads = 0
        self.opens = asyncio.Event()
        self.opens.set()

    async def stored(self, feed: Feed) -> Sequence[Any]:
        assert feed is Feed.STOCKS
        self.loads += 1
        await self.opens.wait()
        if self.error:
            raise self.error
        return self.state


def made(
    bus: FakeBus | None = None, clock: Callable[[], float] = lambda: 0.0, secret: str = SECRET
) -> Relays:
    fake: Any = bus or FakeBus()
    return Relays(fake, secret, clock)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class Served:
    """A relay that is connected inside `async with`."""

    def __init__(self, relays: Relays, line: Line) -> None:
        self.task = asyncio.ensure_future(relays.serve(line.scope(), line.receive, line.send))
        self._line = line

    async def __aenter__(self) -> Self:
        await settle()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._line.inbox.put_nowait(None)
        self._line.ready = True
        await asyncio.wait([self.task], timeout=scaled(5))


@pytest.mark.parametrize(
    "scope",
    [
        {"authorization": None},
        {"authorization": b""},
        {"authorization": b"Bearer "},
        {"authorization": b"Bearer " + b"x" * 32},
        {"authorization": b"bearer " + SECRET.encode()},
        {"authorization": b"Bearer " + SECRET.encode() + b" "},
        {"authorization": b"\xff\xfe"},
        {"query": b""},
        {"query": b"feeds="},
        {"query": b"feeds=stocks,bonds"},
        {"query": b"feeds=stocks,"},
        {"query": b"feeds=\xff"},
        {"subprotocol": "quotecast.v1.json"},
        {"subprotocol": "quotecast.relay.v2"},
    ],
    ids=repr,
)
async def test_all_refusals_are_the_same(scope: dict[str, Any]) -> None:
    """Who lacks the secret learns nothing; neither does a relay that asks wrongly."""
    line, relays = Line(), made()
    await relays.serve(line.scope(**scope), line.receive, line.send)
    assert line.events == [{"type": "websocket.close", "code": 1008, "reason": "relay"}]
    assert len(relays) == 0


@pytest.mark.parametrize("given", [b"Bearer ", b"Bearer", b"", None], ids=repr)
async def test_without_a_secret_nobody_may(given: bytes | None) -> None:
    """A worker without QUOTECAST_RELAY_SECRET refuses the empty secret too."""
    line = Line()
    await made(secret="").serve(line.scope(given), line.receive, line.send)
    assert [event["type"] for event in line.events] == ["websocket.close"]


async def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a refusal says nothing of the secret: only `hmac.compare_digest` sees both."""
    compared: list[tuple[bytes, bytes]] = []

    def compare(given: bytes, ours: bytes) -> bool:
        compared.append((given, ours))
        return False

    monkeypatch.setattr(hmac, "compare_digest", compare)
    line = Line()
    await made().serve(line.scope(), line.receive, line.send)
    assert compared == [(b"Bearer " + SECRET.encode(),) * 2]
    assert [event["type"] for event in line.events] == ["websocket.close"]


async def test_relays_get_one_frame_of_their_feeds() -> None:
    """A message is encoded and compressed once for all relays of its feed."""
    relays, lines = made(), [Line(), Line()]
    async with Served(relays, lines[0]), Served(relays, lines[1]):
        assert len(relays) == 2
        relays.publish(BEAT)
        relays.publish(Batch(feed=Feed.CRYPTO, epoch="aa", seq=1))
        assert lines[0].answers() == [BEAT]
        assert lines[0].frames[0] is lines[1].frames[0]
    assert len(relays) == 0


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xc1",
        b"\x91" * 5000,
        "a text",
        wire.encode({"call": "drop", "feed": "stocks"}),
        wire.encode({"call": "state", "feed": "bonds"}),
        wire.encode({"call": "digest", "feed": "stocks", "name": "n" * MAX_QUESTION_BYTES}),
    ],
    ids=["nothing", "garbage", "arrays in arrays", "text", "no call", "no feed", "too long"],
)
async def test_what_is_no_question_ends_the_connection(message: bytes | str) -> None:
    """A relay that speaks something else is closed with 4400, and reaches no bus."""
    bus = FakeBus()
    relays, line = made(bus), Line(message)
    await relays.serve(line.scope(), line.receive, line.send)
    assert line.events[-1] == {"type": "websocket.close", "code": 4400, "reason": "bad_commands"}
    assert (bus.loads, len(relays)) == (0, 0)


async def test_a_failing_bus_is_an_answer() -> None:
    """The relay learns that the origin's bus failed; the connection goes on."""
    bus = FakeBus()
    bus.error = BusError("Redis: away")
    line = Line(*[wire.encode(Question(call="state", feed=Feed.STOCKS))] * 2)
    async with Served(made(bus), line):
        assert line.answers() == [RemoteAnswer(error="Redis: away")] * 2


async def test_a_slow_relay_misses_messages_and_costs_bounded_memory() -> None:
    """A relay behind by too many bytes or seconds misses messages until it reads; then it gets them again."""
    now = 100.0
    relays, slow, fast = made(clock=lambda: now), Line(), Line()
    async with Served(relays, slow), Served(relays, fast):
        slow.ready, slow.paused_at, slow.unsent = False, now, MAX_UNSENT_BYTES
        relays.publish(BEAT)
        slow.unsent = 1
        relays.publish(BEAT)
        now += MAX_BEHIND_SECONDS
        relays.publish(BEAT)
        assert (len(slow.frames), len(fast.frames), relays.missed) == (1, 3, 2)
        slow.ready, slow.unsent = True, 0
        relays.publish(BEAT)
        assert (len(slow.frames), len(fast.frames)) == (2, 4)


async def test_a_relay_that_reads_nothing_is_closed() -> None:
    """Half a minute without a byte read frees what waits for the relay."""
    now = 100.0
    relays, line = made(clock=lambda: now), Line()
    async with Served(relays, line) as served:
        line.ready, line.paused_at = False, now
        now += LOST_SECONDS
        relays.publish(BEAT)
        await settle()
        assert served.task.cancelled()
        assert len(relays) == 0
        assert line.events[-1]["code"] == 1012


async def test_a_relay_that_reads_no_answers_gets_no_more_of_them() -> None:
    """Questions wait while the socket has not taken the last answer."""
    bus = FakeBus()
    question = wire.encode(Question(call="state", feed=Feed.STOCKS))
    line = Line(question, question, question)
    line.ready = False
    async with Served(made(bus), line) as served:
        assert bus.loads == 0
        served.task.cancel()


async def test_a_stopping_worker_sends_relays_away() -> None:
    """Relays connect to another worker when this one stops; one that reads nothing holds up no stop."""
    relays, lines = made(), [Line(), Line()]
    async with Served(relays, lines[0]) as one, Served(relays, lines[1]) as other:
        lines[1].ready = False
        relays.drain()
        await settle()
        assert one.task.cancelled()
        assert other.task.cancelled()
        assert [line.events[-1]["code"] for line in lines] == [1012, 1012]
        assert len(relays) == 0


async def test_relays_share_a_load_that_begins_after_they_asked() -> None:
    """Those that ask during a load share the next one: the present one may be older than what they know."""
    bus: Any = FakeBus()
    shared = _Shared(bus, Feed.STOCKS)
    bus.opens.clear()
    first = asyncio.ensure_future(shared.load())
    await settle()
    later = [asyncio.ensure_future(shared.load()) for _ in range(5)]
    await settle()
    assert bus.loads == 1
    later.pop().cancel()
    bus.opens.set()
    assert msgspec.msgpack.decode((await first).payload)["state"] == STATE
    frames = await asyncio.gather(*later)
    assert len({id(frame) for frame in frames}) == 1
    assert bus.loads == 2


async def test_a_large_state_is_compressed_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compression of megabytes must not hold up the worker's clients."""
    threads: list[Callable[[], bytes]] = []

    async def to_thread(work: Callable[[], bytes]) -> bytes:
        threads.append(work)
        return work()

    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    for size in (MIN_THREADED_BYTES, 10):
        bus: Any = FakeBus([*STATE[:3], [b"AAPL", b"x" * size], [], []])
        frame = await _Shared(bus, Feed.STOCKS).load()
        assert len(frame.compressed()) < size + 200
    assert len(threads) == 1
