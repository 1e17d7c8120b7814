"""A frontend of a world: it follows a feed over a WebSocket, resumes with its cursor, and checks its copy."""

import asyncio
import contextlib
import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from quotecast.market.feeds import Feed
from support.clients.merging_client import READERS
from support.oracles.reference_copy import ReferenceCopy
from world.bar_truth import Break
from world.clock import wall_time
from world.truth import FeedTruth

#: Seconds without a frame after which a frontend connects again; heartbeats come every 2 s.
SILENCE_SECONDS: Final = 7.0
#: The notation of server-sent events.
EVENTS: Final = "events"
#: The path of the socket for all feeds.
ALL_FEEDS: Final = "/api/ws"
#: What a page asks for that shows some fields of a quote.
FIELDS: Final = {Feed.STOCKS: "price,volume", Feed.CRYPTO: "price,bid", Feed.DOVIZ: "buying"}
_RETRY_SECONDS: Final = (0.1, 1.0)
_KEYS: Final = {Feed.STOCKS: "ticker", Feed.CRYPTO: "ticker", Feed.DOVIZ: "symbol"}


class FeedCopy:
    """One feed on a page: its copy, with the checks of each frame."""

    def __init__(self, truth: FeedTruth, wanted: dict[str, Any], name: str, broken: Break) -> None:
        self.truth = truth
        self.name = name
        self.copy = ReferenceCopy(_KEYS[truth.feed], wanted)
        self.state = "none"
        self._broken = broken
        self._last = ("", 0)

    def asked(self) -> dict[str, Any]:
        """Returns what the page asks for when it connects; symbols are text."""
        asked = self.copy.reconnection()
        if not asked["symbols"]:  # none of them had a quote the last time
            asked |= self.copy.wanted | {"since": "none"}
        for name in ("symbols", "fields"):
            if not isinstance(asked.get(name, ""), str):
                asked[name] = ",".join(asked[name])
        self.copy.connect()
        return asked

    def take(self, frame: dict[str, Any], state: str) -> None:
        """Takes a frame; `state` is the feed's in a heartbeat."""
        self.copy.take(frame)
        kind = frame["type"]
        if kind == "snapshot":
            self.state = "live"
        if kind == "heartbeat":
            self.state = state
        if kind in {"snapshot", "update", "heartbeat", "bars"} and frame["epoch"]:
            self._check(frame["epoch"], frame["seq"], replaces=frame.get("reason") == "resync")

    def _check(self, epoch: str, seq: int, *, replaces: bool) -> None:
        last_epoch, last_seq = self._last
        if epoch == last_epoch and seq < last_seq and not replaces:
            self._broken("cursors never go back", f"{self.name}: {seq} after {last_seq} in {epoch}")
        self._last = epoch, seq
        if self.copy.cursor is None:
            return
        expected = self.truth.state(epoch, seq)
        if expected is None:
            self._broken("a copy equals the feed", f"{self.name} is at {epoch}-{seq}, which never was")
            return
        expected = self.shown(expected)
        for key, bars in self.copy.bars.items():
            for bar in bars.values():
                if bar["final"]:
                    self.truth.bars.check_sent(self.name, key, bar)
        if self.copy.quotes != expected:
            self._broken(
                "a copy equals the feed", f"{self.name} at {epoch}-{seq}: {self.difference(expected)}"
            )

    def shown(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what the copy must hold of a state: its names, with the fields that it asked for.

        A name without a quote at the handshake was rejected. A whole quote also has fields that do not
        move; those that came must be right too.
        """
        listed, fields = self.copy.listed, self.copy.covered_fields
        found = {key: item for key, item in state.items() if listed == "all" or key in listed}
        if fields:
            held = self.copy.quotes
            found = {
                key: {
                    name: value for name, value in item.items() if name in fields or name in held.get(key, ())
                }
                for key, item in found.items()
            }
        return found

    def difference(self, expected: dict[str, Any]) -> str:
        """Returns in words how the copy differs from a state."""
        held = self.copy.quotes
        wrong = [key for key in expected.keys() | held.keys() if expected.get(key) != held.get(key)]
        key = min(wrong)
        return f"{len(wrong)} differ, {key} is {held.get(key)} instead of {expected.get(key)}"


class Frontend:
    """One user's page: it wants some symbols of some feeds, in one notation, from any of some servers.

    On the path of all feeds its frames name theirs; on any other path it has one feed.
    """

    def __init__(
        self,
        copies: Sequence[FeedCopy],
        servers: Sequence[str],
        path: str,
        *,
        interval: int,
        notation: str,
        chance: random.Random,
        broken: Break,
        name: str,
        key: str = "",
    ) -> None:
        self.copies = {each.truth.feed.spec.name: each for each in copies}
        self.name = name
        self.frames = 0
        #: Unix time of the last frame that was no error.
        self.heard_at = 0.0
        #: Seconds for which it leaves arrived frames unread: a slow reader.
        self.pause = 0.0
        self.is_late = False
        self._servers = servers
        self._path = path
        self._interval = interval
        self._notation = notation
        self._key = key
        #: Whether its key is no longer good.
        self._is_refused = False
        self._chance = chance
        self._broken = broken
        self._read = READERS.get(notation, msgspec.json.decode)

    async def run(self) -> None:
        """Follows the feed until its key is no longer good."""
        while not self._is_refused:
            server = self._chance.choice(self._servers)
            with contextlib.suppress(OSError, TimeoutError, InvalidHandshake):
                await self._follow(server)
            for each in self.copies.values():
                each.state = "none"
            await asyncio.sleep(self._chance.uniform(*_RETRY_SECONDS))

    async def _follow(self, server: str) -> None:
        asked = self._asked() | {"interval": self._interval}
        async with asyncio.timeout(SILENCE_SECONDS):
            transport, connection = await asyncio.get_running_loop().create_connection(
                partial(self._connection, server, f"{self._path}?{urlencode(asked)}"), server, 8000
            )
        try:
            while True:
                async with asyncio.timeout(SILENCE_SECONDS):
                    message = await connection.messages.get()
                if message is None:
                    return
                if self.pause:
                    transport.pause_reading()
                    await asyncio.sleep(self.pause)
                    transport.resume_reading()
                if message and not self._take(self._read(message)):
                    return
        finally:
            transport.abort()

    def _connection(self, server: str, path: str) -> "Socket | _Stream":
        if self._notation == EVENTS:
            return _Stream(path, server, self._key)
        return Socket(f"ws://{server}{path}", self._notation, self._key)

    def _asked(self) -> dict[str, Any]:
        """Returns the parameters of the address."""
        asked = {name: each.asked() for name, each in self.copies.items()}
        if self._path != ALL_FEEDS:
            (only,) = asked.values()
            return only
        found = {name: each["symbols"] for name, each in asked.items()}
        found |= next(({"bars": each["bars"]} for each in asked.values() if "bars" in each), {})
        for parameter in ("since", "bars_since"):
            values = {name: each.get(parameter, "none") for name, each in asked.items()}
            known = [f"{name}:{value}" for name, value in values.items() if value != "none"]
            if known:
                found[parameter] = ",".join(known)
        return found

    def _take(self, frame: dict[str, Any]) -> bool:
        """Takes a frame. Returns whether the page goes on with this connection."""
        self.frames += 1
        if frame["type"] == "error" and frame["code"] == 503 and (self._key or self._path == ALL_FEEDS):
            return False
        if frame["type"] == "error" and frame["code"] == 401 and self._key:
            self._is_refused = True
            return False
        if frame["type"] == "error":
            self._broken("no errors", f"{self.name} got {frame}")
        self.heard_at = wall_time()
        if self._path != ALL_FEEDS:
            (only,) = self.copies.values()
            only.take(frame, frame.get("feed", only.state))
        elif "feed" in frame:
            self.copies[frame["feed"]].take(frame, frame.get("state", ""))
        return True


class _Stream(asyncio.Protocol):
    """A stream of server-sent events, in chunks of HTTP; each chunk has whole lines."""

    def __init__(self, path: str, server: str, key: str) -> None:
        given = f"X-API-Key: {key}\r\n" if key else ""
        self._request = f"GET {path} HTTP/1.1\r\nHost: {server}\r\n{given}\r\n".encode()
        #: Frames; None at the end.
        self.messages: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._received = b""
        self._text = b""
        self._is_open = False

    def connection_made(self, transport: Any) -> None:
        """Sends the request."""
        transport.write(self._request)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Takes the chunks that are complete."""
        self._received += data
        if not self._is_open:
            head, blank, rest = self._received.partition(b"\r\n\r\n")
            if not blank:
                return
            if b" 200 " not in head.partition(b"\r\n")[0]:
                self._transport.abort()
                return
            self._is_open, self._received = True, rest
        while (end := self._received.find(b"\r\n")) >= 0:
            length = int(self._received[:end], 16)
            if len(self._received) < end + length + 4:
                return
            self._text += self._received[end + 2 : end + 2 + length]
            self._received = self._received[end + 4 + length :]
            self._take_events()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the messages."""
        del exc
        self.messages.put_nowait(None)

    def _take_events(self) -> None:
        while (end := self._text.find(b"\n")) >= 0:
            line, self._text = self._text[:end], self._text[end + 1 :]
            if line.startswith(b"data: "):
                self.messages.put_nowait(line[6:])
            elif line.startswith(b":"):
                self.messages.put_nowait(b"")  # a sign of life


class Socket(asyncio.Protocol):
    """A WebSocket of the library `websockets`, without its tasks."""

    def __init__(self, url: str, notation: str, key: str) -> None:
        self._key = key
        self._protocol = ClientProtocol(parse_uri(url), subprotocols=[Subprotocol(notation)])
        #: Whole messages; None at the end.
        self.messages: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._parts = b""

    def connection_made(self, transport: Any) -> None:
        """Sends the handshake."""
        self._transport = transport
        request = self._protocol.connect()
        if self._key:
            request.headers["X-API-Key"] = self._key
        self._protocol.send_request(request)
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Takes the frames that are complete."""
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame) and event.opcode in {Opcode.TEXT, Opcode.BINARY, Opcode.CONT}:
                self._parts += event.data
                if event.fin:
                    self.messages.put_nowait(self._parts)
                    self._parts = b""
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the messages."""
        del exc
        self.messages.put_nowait(None)

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()
