"""A PostgreSQL for worlds: one server with the statements that the service sends, on any event loop.

It speaks protocol 3 with the service's own driver. A statement is a function of `postgres_accounts`,
`postgres_bars`, `postgres_deliveries` or `postgres_statements`, found by its text; `test_postgres_server.py`
holds them to PostgreSQL. Transactions that write take turns. One that has not committed is seen by nobody,
and ends with its connection. What is committed outlasts every process.
"""

import asyncio
import struct
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

# They declare their statements.
from world import postgres_accounts, postgres_bars, postgres_deliveries, postgres_statements  # noqa: F401
from world.postgres_data import SHAPES, STATEMENTS, PostgresError, Statement, Tables
from world.postgres_types import length_and_data, read_value

_SETTINGS: Final = {
    # One without the compiler of statements, whose state the driver would ask for.
    "server_version": "10.0",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
}
#: Why a server takes no writes, by SQLSTATE.
REFUSALS: Final = {
    "53100": "could not extend file: No space left on device",
    "25006": "cannot execute in a read-only transaction",
}
_STARTUP: Final = 196_608
_COPY_HEAD: Final = 19


class PostgresServer:
    """The tables of one server; `clock` is Unix time."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self.tables = Tables()
        #: The SQLSTATE with which it refuses writes; empty while it takes them.
        self.refusal = ""
        #: Whether it ends each connection on which it has committed, in place of an answer.
        self.loses_answers = False
        #: The transaction that writes.
        self.turn = asyncio.Lock()
        self._sessions: set[asyncio.Task[None]] = set()

    def connection(self) -> asyncio.StreamReaderProtocol:
        """Returns the protocol of a new connection."""
        loop = asyncio.get_running_loop()
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), self._begin, loop=loop)

    def restart(self) -> None:
        """Forgets the transactions that a killed server had."""
        self.turn = asyncio.Lock()

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._sessions.add(task)
        task.add_done_callback(self._sessions.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = _Session(self, reader, writer)
        try:
            await session.run()
        except (OSError, EOFError, TimeoutError):
            pass
        finally:
            session.roll_back()
            writer.close()


class _Session:
    """One connection: its transaction, and its last unnamed statement."""

    def __init__(
        self, server: PostgresServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._is_open = self._has_failed = self._skips = False
        #: What the transaction wrote; it has the turn then.
        self._own: Tables | None = None
        self._turn: asyncio.Lock | None = None
        #: Seconds for a lock, and for the client's next message inside a transaction.
        self._lock_seconds: float | None = None
        self._idle_seconds: float | None = None
        self._statements: dict[str, Statement] = {}
        self._bound: tuple[Statement, list[Any]]
        self._copied: bytes | None = None

    async def run(self) -> None:
        """Serves until the client leaves, or waits too long inside a transaction."""
        if not await self._greet():
            return
        while True:
            async with asyncio.timeout(self._idle_seconds if self._is_open else None):
                kind, body = await self._read()
            if kind == b"X":
                return
            if self._skips and kind != b"S":
                continue
            try:
                await self._take(kind, body)
            except PostgresError as error:
                self._fail(error)
                # After a simple query, or COPY, the client sends no Sync.
                self._skips = kind not in {b"Q", b"c"}
                if not self._skips:
                    self._send_ready()
            await self._writer.drain()

    def roll_back(self) -> None:
        """Forgets what the transaction wrote."""
        self._is_open = self._has_failed = False
        self._own = None
        if self._turn is not None:
            self._turn.release()
            self._turn = None

    async def _greet(self) -> bool:
        """Returns whether the client wants a session; otherwise it asked to cancel a query."""
        (length,) = struct.unpack("!i", await self._reader.readexactly(4))
        (version,) = struct.unpack_from("!i", await self._reader.readexactly(length - 4))
        if version != _STARTUP:
            return False
        self._send(b"R", struct.pack("!i", 0))
        for name, value in _SETTINGS.items():
            self._send(b"S", f"{name}\0{value}\0".encode())
        self._send(b"K", struct.pack("!ii", 1, 1))
        self._send_ready()
        return True

    async def _read(self) -> tuple[bytes, bytes]:
        head = await self._reader.readexactly(5)
        (length,) = struct.unpack("!i", head[1:])
        return head[:1], await self._reader.readexactly(length - 4)

    async def _take(self, kind: bytes, body: bytes) -> None:
        match kind:
            case b"Q":
                await self._run_simple(body[:-1].decode())
            case b"E":
                await self._execute()
            case b"c":
                await self._end_copy()
            case _:
                self._prepare(kind, body)

    def _prepare(self, kind: bytes, body: bytes) -> None:
        match kind:
            case b"P":
                name, text = (each.decode() for each in body.split(b"\0")[:2])
                self._statements[name] = _statement(text)
                self._send(b"1")
            case b"D":
                self._describe(self._statements[body[1:-1].decode()])
            case b"B":
                self._bind(body)
            case b"C":
                self._send(b"3")
            case b"H":
                pass  # each answer is sent at once
            case b"S":
                self._skips = False
                self._send_ready()
            case b"d":
                self._copied = (self._copied or b"") + body
            case b"f":
                raise PostgresError("57014", "COPY failed by the client")
            case _:
                raise PostgresError("08P01", f"unknown message {kind!r}")

    async def _run_simple(self, text: str) -> None:
        for command in filter(None, map(str.strip, text.split(";"))):
            word = command.split()[0].upper()
            if word in {"COMMIT", "ROLLBACK"}:
                word = "ROLLBACK" if self._has_failed else word
                self._end_transaction(commits=word == "COMMIT")
                self._complete(word)
            elif word == "BEGIN":
                self._is_open = True
                self._complete(word)
            elif word == "SET":
                self._set(command.split()[2], int(command.split()[4]) / 1000)
                self._complete(word)
            elif word == "COPY":
                self._begin_copy(command)
                return
            else:
                rows = await self._run(_statement(command), [])
                self._complete(f"{word} {len(rows)}")
        self._send_ready()

    async def _execute(self) -> None:
        statement, values = self._bound
        rows = await self._run(statement, values)
        for row in rows if statement.columns else ():
            self._send(b"D", _row(statement, row))
        self._complete(f"{statement.tag}{len(rows)}")

    def _set(self, name: str, seconds: float) -> None:
        if name == "lock_timeout":
            self._lock_seconds = seconds
        elif name == "idle_in_transaction_session_timeout":
            self._idle_seconds = seconds

    def _end_transaction(self, *, commits: bool) -> None:
        if commits and self._own is not None:
            self._server.tables = self._own.without_temporary()
            if self._server.loses_answers:
                raise ConnectionResetError("the answer to a commit is lost")
        self.roll_back()

    async def _run(self, statement: Statement, values: Sequence[Any]) -> list[Any]:
        if self._has_failed:
            raise PostgresError("25P02", "current transaction is aborted")
        if statement.writes:
            if refusal := self._server.refusal:
                raise PostgresError(refusal, REFUSALS[refusal])
            await self._take_turn()
        tables = self._server.tables if self._own is None else self._own
        tables.now = datetime.fromtimestamp(self._server.clock(), UTC)
        rows = list(statement.run(tables, *values))
        if statement.writes and not self._is_open:
            self._end_transaction(commits=True)
        return rows

    async def _take_turn(self) -> None:
        if self._own is not None:
            return
        turn = self._server.turn
        try:
            async with asyncio.timeout(self._lock_seconds):
                await turn.acquire()
        except TimeoutError:
            raise PostgresError("55P03", "canceling statement due to lock timeout") from None
        self._turn, self._own = turn, self._server.tables.copy()

    def _describe(self, statement: Statement) -> None:
        oids = [kind.oid for kind in statement.parameters]
        self._send(b"t", struct.pack(f"!h{len(oids)}i", len(oids), *oids))
        if not statement.columns:
            self._send(b"n")
            return
        fields = [
            name.encode() + b"\0" + struct.pack("!ihihih", 0, 0, kind.oid, -1, -1, 0)
            for name, kind in statement.columns.items()
        ]
        self._send(b"T", struct.pack("!h", len(fields)) + b"".join(fields))

    def _bind(self, body: bytes) -> None:
        _, name, rest = body.split(b"\0", 2)
        statement = self._statements[name.decode()]
        (formats,) = struct.unpack_from("!h", rest)
        at, values = 2 + 2 * formats + 2, []
        for kind in statement.parameters:
            value, at = read_value(kind, rest, at)
            values.append(value)
        self._bound = statement, values
        self._send(b"2")

    def _begin_copy(self, command: str) -> None:
        self._bound = _statement(command), []
        self._copied = b""
        self._send(b"G", struct.pack("!bh", 1, 0))

    async def _end_copy(self) -> None:
        statement, _ = self._bound
        data, self._copied = self._copied or b"", None
        at, rows = _COPY_HEAD, []
        while struct.unpack_from("!h", data, at)[0] >= 0:
            at, row = at + 2, []
            for kind in statement.parameters:
                value, at = read_value(kind, data, at)
                row.append(value)
            rows.append(tuple(row))
        await self._run(statement, [rows])
        self._complete(f"COPY {len(rows)}")
        self._send_ready()

    def _fail(self, error: PostgresError) -> None:
        self._has_failed = self._is_open
        fields = {"S": "ERROR", "V": "ERROR", "C": error.code, "M": str(error)}
        self._send(b"E", b"".join(f"{name}{value}\0".encode() for name, value in fields.items()) + b"\0")

    def _complete(self, tag: str) -> None:
        self._send(b"C", tag.encode() + b"\0")

    def _send_ready(self) -> None:
        self._send(b"Z", b"E" if self._has_failed else b"T" if self._is_open else b"I")

    def _send(self, kind: bytes, body: bytes = b"") -> None:
        self._writer.write(kind + struct.pack("!i", len(body) + 4) + body)


def _statement(text: str) -> Statement:
    """Returns the statement of a text. Raises PostgresError for one that no world knows."""
    found = STATEMENTS.get(text)
    if found is not None:
        return found
    for shape, make in SHAPES.items():
        if match := shape.fullmatch(text):
            return make(*match.groups())
    raise PostgresError("42601", f"no world knows the statement {text!r}")


def _row(statement: Statement, row: Sequence[Any]) -> bytes:
    kinds = statement.columns.values()
    values = (length_and_data(kind, value) for kind, value in zip(kinds, row, strict=True))
    return struct.pack("!h", len(row)) + b"".join(values)
