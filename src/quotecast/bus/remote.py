"""The bus of another quotecast, read over one WebSocket, where its Redis cannot be reached.

The origin's worker sends what its bus publishes, so epochs, numbers, documents, bars and the freshness of
feeds are the origin's own, and clients resume at any tier. The numbers show what the line lost: the reader
loads the state again.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Final, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from quotecast.bus import remote_wire as relay_wire
from quotecast.bus import wire
from quotecast.bus.answers import snapshot_of
from quotecast.bus.base import Document, Message, Snapshot
from quotecast.bus.remote_wire import Question, RemoteAnswer
from quotecast.bus.subscription import SILENCE_SECONDS, silence
from quotecast.errors import BusError, UnreadableState
from quotecast.market.feeds import Feed

#: Seconds to open the socket: TLS over an ocean takes one.
OPEN_SECONDS: Final = 4.0
#: Seconds without a byte after which an origin that owes an answer counts as lost, and for the whole answer:
#: a state has some megabytes.
SILENT_SECONDS: Final = 3.0
ANSWER_SECONDS: Final = 30.0
#: Bytes of the largest frame: a state of 100,000 symbols.
MAX_FRAME_BYTES: Final = 1 << 26
#: Bytes of messages that wait for the reader. Later messages are lost: it loads the state.
MAX_WAITING_BYTES: Final = 1 << 26

_REFUSED: Final = (
    "it takes no relay with this secret; QUOTECAST_ORIGIN_SECRET here is QUOTECAST_RELAY_SECRET there"
)
_REFUSALS: Final = {
    401: _REFUSED,
    403: _REFUSED,
    404: "there is no quotecast, or an older one",
    503: "it is full, or starts",
}


class _Socket(ClientConnection):
    """A connection that knows when its last byte came."""

    heard_at = 0.0

    def data_received(self, data: bytes) -> None:
        """Notes the time."""
        self.heard_at = self.loop.time()
        super().data_received(data)


class _Connect(connect):
    """Follows no redirect: the origin is the address in the settings."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Returns the refusal."""
        return exc


class _Line:
    """An open socket to the origin; answers come in the order of the questions."""

    def __init__(self, socket: _Socket) -> None:
        self._socket = socket
        self._sending = asyncio.Lock()
        #: Those who wait for an answer, in the order of their questions; cancelled if nobody waits any more.
        self._asked: deque[asyncio.Future[RemoteAnswer]] = deque()
        self._messages: asyncio.Queue[tuple[Message, int] | BusError] = asyncio.Queue()
        self._waiting_bytes = 0

    async def ask(self, question: Question) -> RemoteAnswer:
        """Returns the origin's answer. Raises BusError, and UnreadableState as the origin does."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[RemoteAnswer] = loop.create_future()
        try:
            async with self._sending:
                self._asked.append(waiting)
                try:
                    async with asyncio.timeout(SILENT_SECONDS):
                        await self._socket.send(wire.encode(question))
                except (TimeoutError, OSError, WebSocketException) as error:
                    self.abort()
                    raise BusError(f"origin: {_text(error)}") from error
                except asyncio.CancelledError:
                    # Nobody knows whether the origin got the question, and so whose the next answer is.
                    self.abort()
                    raise
            answer = await self._wait(waiting, loop.time())
        finally:
            waiting.cancel()
        if answer.error:
            raise (UnreadableState if answer.unreadable else BusError)(f"origin: {answer.error}")
        return answer

    async def receive(self) -> None:
        """Receives until the connection ends; then the reader and those who asked get an error."""
        try:
            async for data in self._socket:
                if isinstance(data, bytes):
                    self._take(data)
            ended = BusError(f"origin: {self._socket.close_reason or 'the connection ended'}")
        except (OSError, WebSocketException) as error:
            ended = BusError(f"origin: {_text(error)}")
        for waiting in self._asked:
            if not waiting.done():
                waiting.set_exception(ended)
        self._messages.put_nowait(ended)

    async def messages(self) -> AsyncGenerator[Message | None, None]:
        """Yields messages, and None after each second without one. Raises BusError."""
        while True:
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    received = await self._messages.get()
            except TimeoutError:
                yield None
                continue
            if isinstance(received, BusError):
                raise received
            message, length = received
            self._waiting_bytes -= length
            yield message

    def abort(self) -> None:
        """Ends the connection at once: a frozen origin answers no close frame."""
        self._socket.transport.abort()

    async def _wait(self, waiting: asyncio.Future[RemoteAnswer], asked_at: float) -> RemoteAnswer:
        """Waits as long as bytes come, such as those of a large state over a slow line."""
        now = asked_at
        while not waiting.done():
            heard_at = max(asked_at, self._socket.heard_at)
            left = min(heard_at + SILENT_SECONDS, asked_at + ANSWER_SECONDS) - now
            if left <= 0:
                self.abort()
                raise BusError("origin: no answer")
            await asyncio.wait([waiting], timeout=left)
            now = asyncio.get_running_loop().time()
        return waiting.result()

    def _take(self, data: bytes) -> None:
        try:
            message = relay_wire.decode(data)
        except UnreadableState:
            # If it was a batch, the reader notices the gap in numbers.
            return
        if isinstance(message, RemoteAnswer):
            if self._asked and not (waiting := self._asked.popleft()).done():
                waiting.set_result(message)
        elif message is not None and self._waiting_bytes < MAX_WAITING_BYTES:
            self._waiting_bytes += len(data)
            self._messages.put_nowait((message, len(data)))


class RemoteBus:
    """A BusReader on the bus of the origin at `url`; that protocol says what each call guarantees.

    `url` is the origin's address, such as wss://quotes.example.com. Questions need an open `listen`.
    """

    def __init__(self, url: str, secret: str) -> None:
        self._url = url.rstrip("/") + relay_wire.PATH
        self._secret = secret
        self._line: _Line | None = None

    async def load(self, feed: Feed, *, closings_after: int = 0) -> Snapshot | None:
        """See BusReader."""
        stored = await self.stored(feed, closings_after=closings_after)
        return await snapshot_of(feed, stored) if stored else None

    async def stored(self, feed: Feed, *, closings_after: int = 0) -> Sequence[Any]:
        """See StateSource; the origin leaves out no closing."""
        del closings_after
        return (await self._ask(Question(call="state", feed=feed))).state or ()

    async def report(self, feed: Feed) -> None:
        """See BusReader. The origin asks its leader only if it cannot read the state either."""
        await self._ask(Question(call="report", feed=feed))

    async def digest(self, feed: Feed, name: str) -> str | None:
        """See BusReader."""
        return (await self._ask(Question(call="digest", feed=feed, name=name))).digest

    async def document(self, feed: Feed, name: str) -> Document | None:
        """See BusReader."""
        answer = await self._ask(Question(call="document", feed=feed, name=name))
        return None if answer.digest is None else Document(feed, name, answer.digest, answer.content)

    async def report_document(self, document: Document) -> None:
        """See BusReader."""
        feed, name, digest = document.feed, document.name, document.digest
        await self._ask(Question(call="report_document", feed=feed, name=name, digest=digest))

    @contextlib.asynccontextmanager
    async def listen(self, feeds: Sequence[Feed]) -> AsyncIterator[AsyncIterator[Message | None]]:
        """See BusReader."""
        line = self._line = _Line(await self._open(feeds))
        receiving = asyncio.create_task(line.receive())
        try:
            async with contextlib.aclosing(line.messages()) as messages:
                yield messages
        finally:
            self._line = None
            line.abort()
            await asyncio.gather(receiving, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def announcements(self) -> AsyncIterator[AsyncIterator[Sequence[str] | None]]:
        """See BusReader; users have their events at the origin, so nothing comes."""
        yield silence()

    async def close(self) -> None:
        """Does nothing: each `listen` closes its own connection."""

    async def check(self) -> str:
        """Returns `ok` while the origin is connected. Raises BusError."""
        if self._line is None:
            raise BusError("the origin is not connected")
        return "ok"

    async def _open(self, feeds: Sequence[Feed]) -> _Socket:
        """Opens the socket, subscribed to feeds. Raises BusError."""
        try:
            socket = await _Connect(
                f"{self._url}?feeds={','.join(feeds)}",
                subprotocols=[Subprotocol(relay_wire.SUBPROTOCOL)],
                additional_headers={"Authorization": f"Bearer {self._secret}"},
                create_connection=_Socket,
                open_timeout=OPEN_SECONDS,
                # Beats of the bus show a silent line.
                ping_interval=None,
                max_size=MAX_FRAME_BYTES,
            )
        except InvalidStatus as error:
            status = error.response.status_code
            raise BusError(f"origin {self._url}: {_REFUSALS.get(status, f'HTTP {status}')}") from None
        except (OSError, TimeoutError, WebSocketException) as error:
            raise BusError(f"origin {self._url}: {_text(error)}") from error
        return cast("_Socket", socket)

    async def _ask(self, question: Question) -> RemoteAnswer:
        if self._line is None:
            raise BusError("the origin is not connected")
        return await self._line.ask(question)


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__
