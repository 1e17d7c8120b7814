"""Lua scripts on a connection of their own, which answers without a task or a stream between."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, cast

from hiredis import Reader, pack_command
from redis.asyncio import Connection, Redis
from redis.asyncio.connection import ConnectionPool
from redis.exceptions import ConnectionError as NoConnectionError
from redis.exceptions import NoScriptError

Word = str | bytes | int
#: Runs a Lua script with its keys and arguments; loads it first when the server does not have it.
Script = Callable[..., Awaitable[Any]]
#: Takes the answer of a command; an error of the server or of the connection is an answer too.
Answered = Callable[[Any], None]

#: hiredis returns this for an answer that has not arrived in full; RESP2 has no such value.
_INCOMPLETE: Final = object()


class ScriptConnection:
    """A Lua script with a connection of its own, for frequent calls; it runs one call at a time.

    redis-py connects: it knows addresses, TLS, users and Sentinels. Then this class takes the transport over,
    because redis-py's pool, streams and measurements take twice as long as the call itself. After a failed or
    cancelled call the connection is closed, and the next call takes the one that opened last, for example by
    a probe.
    """

    def __init__(self, client: Redis, source: str) -> None:
        self._pool = client.connection_pool
        self._source = source
        self._digest = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
        self._line: _Line | None = None
        self._turn = asyncio.Lock()

    async def __call__(self, keys: Sequence[Word], args: Sequence[Word]) -> Any:
        """See Script."""
        async with self._turn:
            try:
                return await self._ask("EVALSHA", self._digest, len(keys), *keys, *args)
            except NoScriptError:
                await self._ask("SCRIPT", "LOAD", self._source)
                return await self._ask("EVALSHA", self._digest, len(keys), *keys, *args)

    def start(self, keys: Sequence[Word], args: Sequence[Word], answered: Answered) -> bool:
        """Starts a call if the connection is open and idle; returns whether it did.

        `answered` is called once, from the event loop. It gets a NoScriptError if the server does not have
        the script: nothing ran then, and `__call__` loads it.
        """
        line = self._line
        if line is None or not line.is_idle or self._turn.locked():
            return False
        line.send(("EVALSHA", self._digest, len(keys), *keys, *args), answered)
        return True

    def give_up(self) -> None:
        """Closes the connection of a call that takes too long; the call is answered with an error."""
        if self._line is not None:
            self._line.abort()

    async def _ask(self, *words: Word) -> Any:
        line = await self._open()
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        line.send(words, partial(_resolve, answered))
        try:
            answer = await answered
        except BaseException:
            line.abort()
            raise
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _open(self) -> "_Line":
        """Returns the open connection. The closed one goes back to the pool, which opens it when needed."""
        if self._line is None or not self._line.is_idle:
            former, self._line = self._line, None
            try:
                # First, because the pool gives out the connection that came back last.
                connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
            finally:
                if former is not None:
                    await former.release(self._pool)
            self._line = _Line(connection)
        return self._line


class _Line(asyncio.Protocol):
    """The protocol of a connection that redis-py opened: one command at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._transport = cast("asyncio.Transport", connection._writer.transport)  # type: ignore[union-attr]  # noqa: SLF001 - redis-py gives its transport to nobody
        self._former = self._transport.get_protocol()
        self._reader = Reader(replyError=connection._parser.parse_error, notEnoughData=_INCOMPLETE)  # noqa: SLF001 - the kinds of errors that redis-py raises
        self._answered: Answered | None = None
        self._is_open = True
        self._transport.set_protocol(self)

    @property
    def is_idle(self) -> bool:
        """Whether the connection is open and no command waits for its answer."""
        return self._is_open and self._answered is None and not self._transport.is_closing()

    def send(self, words: Sequence[Word], answered: Answered) -> None:
        """Sends a command; the line must be idle."""
        self._answered = answered
        self._transport.write(pack_command(words))  # type: ignore[arg-type]  # declared for tuples of one word

    def abort(self) -> None:
        """Closes at once; the command under way is answered with an error, in a later turn of the loop."""
        self._is_open = False
        self._transport.abort()

    async def release(self, pool: ConnectionPool) -> None:
        """Closes, and gives the connection back."""
        self.abort()
        await self._connection.disconnect(nowait=True)
        await pool.release(self._connection)

    def data_received(self, data: bytes) -> None:
        """Passes a complete answer on; bytes outside it end the connection."""
        self._reader.feed(data)
        try:
            answer = self._reader.gets()
        except Exception as error:  # noqa: BLE001 - no answer of Redis
            self._end(error)
            return
        if answer is _INCOMPLETE:
            return
        answered, self._answered = self._answered, None
        if answered is None or self._reader.has_data():
            self.abort()
        if answered is not None:
            answered(answer)

    def eof_received(self) -> None:
        """The server closes: the transport closes, too."""
        self._is_open = False

    def connection_lost(self, error: Exception | None) -> None:
        """Ends the command under way, and tells redis-py's stream."""
        self._former.connection_lost(error)
        self._end(error or NoConnectionError("Redis closed the connection"))

    def _end(self, error: Exception) -> None:
        answered, self._answered = self._answered, None
        self.abort()
        if answered is not None:
            answered(error)


def _resolve(answered: "asyncio.Future[Any]", answer: object) -> None:
    # The future is done when its call was cancelled.
    if not answered.done():
        answered.set_result(answer)
