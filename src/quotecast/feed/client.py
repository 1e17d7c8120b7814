"""One client's side of the protocol: commands in, frames out; no I/O.

A socket serves one feed, or all of them. In the second case commands name their feed, and so do the frames;
each feed has its own subscription and cursor.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET

from quotecast.close_codes import CloseCode
from quotecast.feed import frames
from quotecast.feed.commands import (
    Command,
    CommandError,
    Query,
    command_of,
    decode,
    heartbeat_ms_of,
    tags_of,
)
from quotecast.feed.encoding import JSON, Encoding
from quotecast.feed.form import Form
from quotecast.feed.frames import Id, Label, Limits
from quotecast.feed.mirror import Mirror
from quotecast.feed.pace import CommandPace
from quotecast.feed.projection import projection_of
from quotecast.feed.session import FeedSession, is_ahead
from quotecast.framing import Frame
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed, feed_named

MAX_FAULTS: Final = 10
COMMANDS_PER_SECOND: Final = 20
DEFAULT_HEARTBEAT_MS: Final = 15_000

_NONE_REFUSED: Final[Mapping[str, str]] = {}
_NAMES: Final = {feed.spec.name: feed for feed in Feed}
_FEED_RULE: Final = f"feed: Must be one of {', '.join(_NAMES)}"


class ClientSession:
    """The sessions of one socket by feed; a `close_code` asks the stream to disconnect the client."""

    __slots__ = (
        "_among_feeds", "_faults", "_limits", "_pace", "_refusals", "close_code", "connection", "encoding",
        "feeds", "heartbeat_ms",
    )  # fmt: skip

    def __init__(
        self,
        mirrors: Sequence[Mirror],
        limits: Limits,
        encoding: Encoding = JSON,
        *,
        among_feeds: bool = False,
        resumptions: Sequence[Counter[str]] = (),
        connection: str = "",
        heartbeat_ms: int = DEFAULT_HEARTBEAT_MS,
        refusals: Mapping[str, str] = _NONE_REFUSED,
    ) -> None:
        """`refusals` tells by feed why the client may not have it."""
        self.encoding = encoding
        #: The connection's name in its welcome and in logs.
        self.connection = connection
        #: Milliseconds between two heartbeats; the address may ask for others.
        self.heartbeat_ms = heartbeat_ms
        self.close_code: CloseCode | None = None
        self._limits = limits
        #: Whether commands and frames name their feed.
        self._among_feeds = among_feeds
        self.feeds: dict[str, FeedSession] = {}
        for mirror, counted in zip(mirrors, resumptions or [Counter() for _ in mirrors], strict=True):
            name = mirror.feed.spec.name
            whole = projection_of(mirror.feed, encoding.notation, rows=encoding.rows)
            form = Form(encoding, whole, name if among_feeds else UNSET)
            self.feeds[name] = FeedSession(mirror, limits, form, counted)
        self._refusals = refusals
        self._faults = 0
        self._pace = CommandPace(COMMANDS_PER_SECOND)

    def open(self, queries: Mapping[str, Query], heartbeat: str | None = None) -> list[Frame]:
        """Returns the frames that greet a client: the welcome, and the answers to its address by feed.

        `heartbeat`: the seconds between heartbeats that the address asks for, unparsed.
        """
        refused: list[Frame] = []
        try:
            if heartbeat is not None:
                self.heartbeat_ms = heartbeat_ms_of(heartbeat)
        except CommandError as refusal:
            refused = [self._refuse(refusal, None)]
        # The welcome has the interval of heartbeats.
        greeting = [self._welcome(), *refused]
        for name, query in queries.items():
            if name in _NAMES and query != Query():
                greeting += self._answer(name, query)
        if queries.keys() - _NAMES:
            greeting.append(self._refuse(CommandError(_FEED_RULE), None))
        return greeting

    def open_stream(self, query: Query, heartbeat: str | None) -> list[Frame]:
        """Returns the frames that greet a client of one feed, whose address must be right.

        Raises CommandError.
        """
        if heartbeat is not None:
            self.heartbeat_ms = heartbeat_ms_of(heartbeat)
        (feed,) = self.feeds.values()
        return [self._welcome(), *feed.obey(command_of(query))]

    def receive(self, message: str | bytes, now: float) -> list[Frame]:
        """Returns the frames that answer one command; `now` is Unix time, for the pong."""
        try:
            command = decode(message, self.encoding)
            if command.action == "ping":
                return [self.encoding.write(frames.pong(iso_utc(now), command.id))]
            name = self._feed_of(command)
        except CommandError as refusal:
            request, feed = tags_of(message)
            return [self._refuse(refusal, request, self._label(feed))]
        return self._answer(name, command, command.id)

    def is_behind(self, message: str | bytes) -> bool:
        """Returns whether a command has a cursor ahead of this worker, as it may be from a faster one."""
        try:
            command = decode(message, self.encoding)
            return command.since is not None and is_ahead(
                self.feeds[self._feed_of(command)].mirror, command.since
            )
        except (CommandError, KeyError):
            return False

    def shutdown(self, retry_after_ms: int) -> Frame:
        """Returns the shutdown frame of a restarting server."""
        return self.encoding.write(frames.shutdown(retry_after_ms))

    def pause(self, now: float) -> float:
        """Counts one command; returns the seconds to wait before the next one (`now` is monotonic)."""
        return self._pace.spend(1, now)

    def _welcome(self) -> Frame:
        mirrors = {name: session.mirror for name, session in self.feeds.items()}
        if self._among_feeds:
            marks = {name: mirror.mark for name, mirror in mirrors.items()}
            welcome = frames.welcome_to_all(marks, self.heartbeat_ms, self._limits, self.connection)
            return self.encoding.write(welcome)
        (mirror,) = mirrors.values()
        welcome = frames.welcome(
            mirror.feed,
            mirror.mark,
            self.heartbeat_ms,
            self._limits,
            self.connection,
            replayed_at=mirror.replayed_at,
        )
        return self.encoding.write(welcome)

    def _feed_of(self, command: Command) -> str:
        """Returns the name of the feed that a command is for. Raises CommandError."""
        if not self._among_feeds:
            return next(iter(self.feeds))
        feed = feed_named(command.feed or "")
        if feed is None:
            raise CommandError(_FEED_RULE)
        return feed.spec.name

    def _answer(self, name: str, asked: Query | Command, request: Id = None) -> list[Frame]:
        """Returns what a feed answers, or an error."""
        try:
            if name in self._refusals:
                raise CommandError(self._refusals[name], 403)  # noqa: TRY301 - answered here
            if name not in self.feeds:
                raise CommandError(f"This service has no provider for the feed {name}", 404)  # noqa: TRY301 - answered here
            return self.feeds[name].obey(command_of(asked) if isinstance(asked, Query) else asked)
        except CommandError as refusal:
            return [self._refuse(refusal, request, self._label(name))]

    def _label(self, name: str | None) -> Label:
        feed = feed_named(name or "")
        return feed.spec.name if self._among_feeds and feed else UNSET

    def _refuse(self, refusal: CommandError, request: Id, label: Label = UNSET) -> Frame:
        if refusal.code == 400:
            self._faults += 1
            if self._faults > MAX_FAULTS:
                self.close_code = CloseCode.BAD_COMMANDS
        return self.encoding.write(frames.error(refusal.code, str(refusal), request, label))
