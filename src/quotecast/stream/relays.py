"""The origin's side of relays: workers elsewhere read this worker's bus over a WebSocket.

A relay gets the messages of the bus as they come, compressed once for all relays, and asks for states and
documents. Only holders of the secret may: a relay costs as much as the whole market.
"""

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from urllib.parse import parse_qs

import structlog
from msgspec import Struct

from quotecast.asgi import header_value
from quotecast.bus import remote_wire as relay_wire
from quotecast.bus import wire
from quotecast.bus.base import REPORT_SECONDS, Document, Message, StateSource
from quotecast.bus.remote_wire import Question, RemoteAnswer
from quotecast.close_codes import CloseCode
from quotecast.errors import BusError, UnreadableState
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from quotecast.stream.outlet import WRITER

PATH: Final = relay_wire.PATH
#: Bytes and seconds that a relay may be behind; then it misses messages, and loads the states again.
MAX_UNSENT_BYTES: Final = 1 << 24
MAX_BEHIND_SECONDS: Final = 10.0
#: Seconds behind after which the worker closes the connection: nobody may be at its other end.
LOST_SECONDS: Final = 30.0
#: Bytes of a frame that another thread compresses, since it would hold up the worker.
MIN_THREADED_BYTES: Final = 1 << 17
#: The reason of a refused handshake.
REFUSED: Final = "relay"

log = structlog.get_logger()


class _Reader(Struct, eq=False):
    """An open relay, and the task that serves it."""

    feeds: frozenset[Feed]
    #: Its `Outlet`, with the `write` of the feed server.
    socket: Any
    task: asyncio.Task[Any] | None


class Relays:
    """All relays of a worker; without a `secret` there are none. `clock` gives monotonic seconds."""

    def __init__(self, bus: StateSource, secret: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._bus = bus
        self._secret = secret.encode()
        self._clock = clock
        #: In the order in which they came.
        self._readers: dict[_Reader, None] = {}
        self._states = {feed: _Shared(bus, feed) for feed in Feed}
        #: When a relay's report of each feed was last checked.
        self._checked_at: dict[Feed, float] = {}
        #: Messages that slow relays missed.
        self.missed = 0

    def __len__(self) -> int:
        """Returns the number of open relays."""
        return len(self._readers)

    def publish(self, message: Message) -> None:
        """Sends a message of the bus to every relay of its feed that keeps up."""
        readers = [reader for reader in self._readers if message.feed in reader.feeds]
        if not readers:
            return
        frame, now = Frame(wire.encode(message), binary=True, shared=True), self._clock()
        for reader in readers:
            socket = reader.socket
            behind = 0.0 if socket.ready else now - socket.paused_at
            if behind < MAX_BEHIND_SECONDS and socket.unsent < MAX_UNSENT_BYTES:
                socket.write(frame)
                continue
            self.missed += 1
            if behind >= LOST_SECONDS and reader.task is not None:
                reader.task.cancel()

    async def serve(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one relay's connection; the handshake is not accepted yet."""
        feeds = self._feeds_of(scope)
        if not feeds:
            await send({"type": "websocket.close", "code": 1008, "reason": REFUSED})
            return
        await send({"type": "websocket.accept", "subprotocol": relay_wire.SUBPROTOCOL, "headers": []})
        reader = _Reader(feeds, scope["extensions"][WRITER], asyncio.current_task())
        address = scope["client"][0]
        self._readers[reader] = None
        log.info("relay connected", address=address, feeds=",".join(sorted(feeds)))
        try:
            while (event := await receive())["type"] == "websocket.receive":
                # A relay that does not read its answers gets no more of them.
                await reader.socket
                reader.socket.write(await self._answer(event.get("bytes") or b""))
        except UnreadableState:
            await send(_close(CloseCode.BAD_COMMANDS))
        except asyncio.CancelledError:
            # The server starts to send at once. Nobody waits for a relay that does not read.
            send(_close(CloseCode.SERVICE_RESTART))
            raise
        finally:
            self._readers.pop(reader, None)
            log.info("relay left", address=address)

    def drain(self) -> None:
        """Closes every relay: this worker stops, and relays connect to another one."""
        for reader in self._readers:
            if reader.task is not None:
                reader.task.cancel()

    def _feeds_of(self, scope: Any) -> frozenset[Feed]:
        """Returns the feeds that an authorised relay asks for; none for any other client."""
        given = header_value(scope, b"authorization") or b""
        if not self._secret or not hmac.compare_digest(given, b"Bearer " + self._secret):
            return frozenset()
        if relay_wire.SUBPROTOCOL not in scope["subprotocols"]:
            return frozenset()
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("feeds", [""])[0].split(",")
        known = {feed.value for feed in Feed}
        return frozenset(map(Feed, asked)) if known.issuperset(asked) else frozenset()

    async def _answer(self, data: bytes) -> Frame:
        """Returns the answer to a question. Raises UnreadableState for another message."""
        question = relay_wire.decode_question(data)
        try:
            if question.call == "state":
                return await self._states[question.feed].load()
            answer = await self._reply(question)
        except UnreadableState as error:
            answer = RemoteAnswer(error=str(error), unreadable=True)
        except BusError as error:
            answer = RemoteAnswer(error=str(error))
        return _frame(answer)

    async def _reply(self, question: Question) -> RemoteAnswer:
        feed, name = question.feed, question.name
        match question.call:
            case "digest":
                return RemoteAnswer(digest=await self._bus.digest(feed, name))
            case "document":
                document = await self._bus.document(feed, name)
                return (
                    RemoteAnswer(digest=document.digest, content=document.content)
                    if document
                    else RemoteAnswer()
                )
            case "report":
                await self._report(feed)
            case "report_document":
                # Ingest stores the document again only if it is damaged here too.
                stored = await self._bus.document(feed, name)
                if (
                    stored
                    and stored.digest == question.digest
                    and wire.digest_of(stored.content) != question.digest
                ):
                    await self._bus.report_document(Document(feed, name, question.digest, b""))
        return RemoteAnswer()

    async def _report(self, feed: Feed) -> None:
        """Asks the leader for a new epoch if this worker cannot read the feed either.

        A new epoch costs every client of the feed, and a relay of another version would ask indefinitely.
        """
        now = self._clock()
        if now - self._checked_at.get(feed, float("-inf")) < REPORT_SECONDS:
            return
        self._checked_at[feed] = now
        try:
            await self._bus.load(feed)
        except UnreadableState:
            await self._bus.report(feed)


class _Shared:
    """The state of one feed, loaded once for all relays that wait for it.

    Relays that ask during a load share the next one: the present one may be older than the messages that
    they have seen.
    """

    def __init__(self, bus: StateSource, feed: Feed) -> None:
        self._bus = bus
        self._feed = feed
        self._turn = asyncio.Lock()
        self._next: asyncio.Task[Frame] | None = None

    def load(self) -> Awaitable[Frame]:
        """Returns the answer with the state. Raises BusError and UnreadableState."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_task(self._load())
            # Its relays may all have left when it fails.
            self._next.add_done_callback(lambda task: task.cancelled() or task.exception())
        return asyncio.shield(self._next)

    async def _load(self) -> Frame:
        async with self._turn:
            self._next = None
            stored: Sequence[Any] = await self._bus.stored(self._feed)
            frame = _frame(RemoteAnswer(state=tuple(stored) if stored else None))
            if len(frame) >= MIN_THREADED_BYTES:
                await asyncio.to_thread(frame.compressed)
            return frame


def _frame(answer: RemoteAnswer) -> Frame:
    return Frame(wire.encode(answer), binary=True, shared=True)


def _close(code: CloseCode) -> dict[str, Any]:
    return {"type": "websocket.close", "code": int(code), "reason": code.name.lower()}
