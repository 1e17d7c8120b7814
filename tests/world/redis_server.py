"""A Redis for worlds: one server with the commands and the Lua that the service uses, on any event loop.

It speaks RESP2 and runs the service's own scripts, in the Lua of Redis. `tests/contract` and
`test_redis_server.py` hold it to Valkey. Keys expire by the clock of its host, as in Redis.
"""

import asyncio
import copy
import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, Protocol

import hiredis
from lupa.lua51 import LuaRuntime

from world.redis_data import COMMANDS, WRITES, Data, RedisError, Status

#: Why a server takes no writes, in Redis's words.
REFUSALS: Final = {
    "readonly": "READONLY You can't write against a read only replica.",
    "oom": "OOM command not allowed when used memory > 'maxmemory'.",
    "misconf": "MISCONF Redis is configured to save RDB snapshots, but it's unable to persist to disk.",
}
Refusal = Literal["readonly", "oom", "misconf"]
#: The kind of a message by the command that subscribes to its channel, or publishes it.
_KINDS: Final = {
    b"SUBSCRIBE": b"message",
    b"PUBLISH": b"message",
    b"SSUBSCRIBE": b"smessage",
    b"SPUBLISH": b"smessage",
}

_SCRIPT_HEAD: Final = b"return function(KEYS, ARGV) "


class RedisServer:
    """The keys, the scripts and the subscriptions of one server; `clock` is Unix time."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.data = Data(clock)
        self.refusal: Refusal | None = None
        #: Whether it ends each connection on which it has written, in place of an answer.
        self.loses_answers = False
        #: Addresses whose subscriptions miss every message: delivery is at most once.
        self.unheard: set[str] = set()
        #: Called with this server and each channel and message before the subscribers get it.
        self.observers: list[Callable[[RedisServer, bytes, bytes], None]] = []
        #: The replica that follows; its subscribers get what this server publishes.
        self.replica: RedisServer | None = None
        self.is_replica = False
        #: Grows when data are lost: what two servers publish may differ where these numbers do.
        self.history = 0
        #: Functions by digest, with the flags of their first lines; None without such a line.
        self._scripts: dict[bytes, tuple[Any, bytes | None]] = {}
        #: By kind and channel.
        self._subscribers: dict[tuple[bytes, bytes], dict[RedisConnection, None]] = {}
        self._may_exceed_memory = False
        self._lua = LuaRuntime(encoding=None, unpack_returned_tuples=True)
        self._lua.execute(b"redis = {}")
        functions = self._lua.globals()[b"redis"]
        functions[b"call"], functions[b"pcall"] = self._call, self._try_call

    def connection(self) -> "RedisConnection":
        """Returns the protocol of a new connection."""
        return RedisConnection(self)

    def copy_of_data(self) -> Data:
        """Returns what a replica has at this moment."""
        return copy.deepcopy(self.data)

    def restart(self, data: Data | None) -> None:
        """Goes on with a replica's data, or with none; scripts and subscriptions are gone."""
        self.data = Data(self.clock) if data is None else data
        self._scripts.clear()
        self._subscribers.clear()

    def run(self, words: Sequence[bytes]) -> Any:
        """Returns the answer to a command. Raises RedisError."""
        name = words[0].upper()
        match name:
            case b"EVALSHA":
                return self._evaluate(words[1], words[2:])
            case b"EVAL":
                return self._evaluate(self._load(words[1]), words[2:])
            case b"SCRIPT":
                return self._load(words[2])
            case b"PUBLISH" | b"SPUBLISH":
                return self._publish(_KINDS[name], words[1], words[2])
            case b"SELECT" | b"CLIENT" | b"PING":
                return Status("PONG" if name == b"PING" else "OK")
        return self._run_on_data(name, words[1:])

    def follow(self, master: "RedisServer") -> None:
        """Becomes a replica: it has the master's data, and refuses writes; its connections stay."""
        self.is_replica, self.refusal = True, "readonly"
        self.data = master.data
        self.replica, master.replica = None, self

    def lead(self, data: Data) -> None:
        """Becomes a master with what it had as a replica."""
        self.is_replica, self.refusal = False, None
        self.data, self.replica = data, None

    def refuse(self, refusal: Refusal | None) -> None:
        """Refuses writes, or takes them again, unless it is a replica."""
        if not self.is_replica:
            self.refusal = refusal

    def subscribe(self, verb: bytes, channel: bytes, connection: "RedisConnection") -> None:
        """Sends the channel's messages to the connection. Raises RedisError."""
        self._subscribers.setdefault((_KINDS[verb], channel), {})[connection] = None

    def leave(self, connection: "RedisConnection") -> None:
        """Ends the subscriptions of a closed connection."""
        for connections in self._subscribers.values():
            connections.pop(connection, None)

    def _run_on_data(self, name: bytes, words: Sequence[bytes]) -> Any:
        command = COMMANDS.get(name)
        if command is None:
            raise RedisError(f"ERR unknown command '{name.decode()}'")
        if self.refusal is not None and name in WRITES:
            frees = name in {b"DEL", b"LPOP", b"XTRIM", b"PEXPIRE", b"LREM"}
            if self.refusal != "oom" or not (frees or self._may_exceed_memory):
                raise RedisError(REFUSALS[self.refusal])
        return command(self.data, *words)

    def _publish(self, kind: bytes, channel: bytes, message: bytes) -> int:
        for observe in self.observers:
            observe(self, channel, message)
        if self.replica is not None:
            self.replica.deliver(kind, channel, message)
        return self.deliver(kind, channel, message)

    def deliver(self, kind: bytes, channel: bytes, message: bytes) -> int:
        """Sends a message to the subscribers; returns their number."""
        found = [*self._subscribers.get((kind, channel), ())]
        for connection in found:
            if connection.address not in self.unheard:
                connection.send([kind, channel, message])
        return len(found)

    def _load(self, source: bytes) -> bytes:
        digest = hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()
        if digest not in self._scripts:
            body, flags = source, None
            if source.startswith(b"#!"):
                flags, _, body = source.partition(b"\n")
            self._scripts[digest] = self._lua.execute(_SCRIPT_HEAD + body + b"\nend"), flags
        return digest

    def _evaluate(self, digest: bytes, words: Sequence[bytes]) -> Any:
        found = self._scripts.get(digest.lower())
        if found is None:
            raise RedisError("NOSCRIPT No matching script. Please use EVAL.")
        function, flags = found
        # A script with flags does not even begin where it may not write.
        if flags is not None and self.refusal in {"readonly", "misconf"}:
            raise RedisError(REFUSALS[self.refusal])
        self._may_exceed_memory = flags is not None and b"allow-oom" in flags
        count = 1 + int(words[0])
        table_of = self._lua.table_from
        try:
            return _from_lua(function(table_of(words[1:count]), table_of(words[count:])))
        finally:
            self._may_exceed_memory = False

    def _call(self, *words: Any) -> Any:
        return self._to_lua(self.run([*map(_word, words)]))

    def _try_call(self, *words: Any) -> Any:
        try:
            return self._call(*words)
        except RedisError as error:
            return self._lua.table_from({b"err": str(error).encode()})

    def _to_lua(self, answer: Any) -> Any:
        if answer is None:
            return False
        if isinstance(answer, Status):
            return self._lua.table_from({b"ok": answer.encode()})
        if isinstance(answer, list):
            return self._lua.table_from([self._to_lua(each) for each in answer])
        return answer


def _word(value: Any) -> bytes:
    """Returns an argument of `redis.call` as Redis writes it."""
    if isinstance(value, bytes):
        return value
    return b"%d" % value if value == int(value) else b"%.17g" % value


def _from_lua(value: Any) -> Any:
    if value is None or value is False:
        return None
    if isinstance(value, (int, float)):  # true is 1
        return int(value)
    if isinstance(value, bytes):
        return value
    if value[b"ok"] is not None:
        return Status(value[b"ok"].decode())
    if value[b"err"] is not None:
        return RedisError(value[b"err"].decode())
    found = []
    for number in range(1, len(value) + 1):
        if value[number] is None:
            break
        found.append(_from_lua(value[number]))
    return found


class Answering(Protocol):
    """What answers the commands of connections."""

    loses_answers: bool

    def run(self, words: Sequence[bytes]) -> Any:
        """Returns the answer to a command. Raises RedisError."""

    def subscribe(self, verb: bytes, channel: bytes, connection: "RedisConnection") -> None:
        """Sends the channel's messages to the connection. Raises RedisError."""

    def leave(self, connection: "RedisConnection") -> None:
        """Ends the subscriptions of a closed connection."""


class RedisConnection(asyncio.Protocol):
    """One connection, with its subscriptions."""

    def __init__(self, server: Answering) -> None:
        self._server = server
        self._reader = hiredis.Reader()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # TCP's
        """Takes the transport."""
        self._transport = transport
        self.address: str = transport.get_extra_info("peername")[0]

    def data_received(self, data: bytes) -> None:
        """Answers the commands that are complete."""
        self._reader.feed(data)
        while (words := self._reader.gets()) is not False:
            self._answer(words)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the subscriptions."""
        del exc
        self._server.leave(self)

    def send(self, answer: Any) -> None:
        """Sends an answer or a message."""
        self._transport.write(_encoded(answer))

    def _answer(self, words: list[bytes]) -> None:
        name = words[0].upper()
        try:
            if name in {b"SUBSCRIBE", b"SSUBSCRIBE"}:
                for channel in words[1:]:
                    self._server.subscribe(name, channel, self)
                    self.send([name.lower(), channel, 1])
                return
            answer = self._server.run(words)
        except RedisError as error:
            answer = error
        if self._server.loses_answers and name in {b"EVALSHA", *WRITES}:
            self._transport.abort()
        else:
            self.send(answer)


def _encoded(value: Any) -> bytes:
    match value:
        case None:
            return b"$-1\r\n"
        case RedisError():
            return b"-%s\r\n" % str(value).encode()
        case Status():
            return b"+%s\r\n" % value.encode()
        case int():
            return b":%d\r\n" % value
        case bytes():
            return b"$%d\r\n%s\r\n" % (len(value), value)
        case _:
            return b"*%d\r\n%s" % (len(value), b"".join(map(_encoded, value)))
