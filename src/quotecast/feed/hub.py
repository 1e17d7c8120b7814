"""Fan-out of one feed: at each tick of an interval, the hub sends every connection one merged update.

Connections with equal subscriptions and cursors share an encoded frame. There is no queue: the hub skips a
connection whose last send is still pending, and merges the skipped changes into its next update
(conflation). The hub disconnects a slow consumer, which accepts nothing for ten seconds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from quotecast.errors import CloseCode
from quotecast.feed.commands import INTERVALS
from quotecast.feed.encoding import Frame
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.feed.session import FeedSession, Wanted
from quotecast.market.codec import iso_utc
from quotecast.observe.histograms import Histogram

SLOW_AFTER_SECONDS: Final = 10.0


class Sending(Protocol):
    """A pending send."""

    def done(self) -> bool:
        """Returns whether the socket has accepted the frame."""
        ...


class Connection:
    """A session and its socket, as the hub sees them."""

    __slots__ = (
        "announced_state",
        "busy",
        "disconnect",
        "heartbeat_at",
        "send",
        "sending",
        "sent_at",
        "session",
    )

    def __init__(
        self, session: FeedSession, send: Callable[[Frame], Sending], disconnect: Callable[[CloseCode], None]
    ) -> None:
        self.session = session
        #: Starts a send and returns at once.
        self.send = send
        #: Ends the connection with a close code.
        self.disconnect = disconnect
        #: True while a command is answered. The hub sends nothing then, so that frames stay in order.
        self.busy = False
        self.sending: Sending | None = None
        self.sent_at = 0.0
        self.heartbeat_at = 0.0
        #: The feed's state that the client last received; a client assumes `live`.
        self.announced_state: FeedState = "live"

    def idle(self) -> bool:
        """Returns whether the socket is ready for the next frame."""
        return not self.busy and (self.sending is None or self.sending.done())

    def start(self, frame: Frame, now: float) -> None:
        """Starts sending a frame."""
        self.sending = self.send(frame)
        self.sent_at = now


class Hub:
    """All connections of one feed on one worker.

    `clock` is monotonic, `wall_clock` Unix time; `market` says whether the venue is open.
    """

    def __init__(
        self,
        mirror: Mirror,
        *,
        heartbeat_seconds: float,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
        market: Callable[[], str],
        slow_seconds: float = SLOW_AFTER_SECONDS,
    ) -> None:
        self.mirror = mirror
        self._heartbeat_seconds = heartbeat_seconds
        self._clock = clock
        self._wall_clock = wall_clock
        self._market = market
        self._slow_seconds = slow_seconds
        self._connections: dict[Connection, int] = {}
        self._tiers: dict[int, dict[Connection, None]] = {interval: {} for interval in INTERVALS}
        self._frames_sent = 0
        self._length_sent = 0
        self._passed_over = 0
        self._disconnected = 0
        #: Called when a connection joins.
        self.on_join: Callable[[], None] = lambda: None
        #: Counts of reconnects with a cursor, by their outcome: `resume` or `resync`.
        self.resumptions: Counter[str] = Counter()
        #: Seconds from the publication of the newest batch to the tick that sends it.
        self.ages = Histogram()

    def __len__(self) -> int:
        """Returns the number of open connections."""
        return len(self._connections)

    def join(self, connection: Connection) -> None:
        """Starts to serve a connection that has received its greeting."""
        connection.heartbeat_at = self._clock() + self._heartbeat_seconds
        self._enter(connection)
        self.on_join()

    def move(self, connection: Connection) -> None:
        """Moves the connection to the tier of its session's interval."""
        if self._connections.get(connection) != connection.session.interval:
            self.leave(connection)
            self._enter(connection)

    def leave(self, connection: Connection) -> None:
        """Forgets a connection."""
        interval = self._connections.pop(connection, None)
        if interval is not None:
            del self._tiers[interval][connection]

    def tick(self, interval: int) -> None:
        """Sends every ready connection of one interval its update, and due heartbeats."""
        mark = self.mirror.mark
        now = self._clock()
        state = self.mirror.state(now)
        frames = length = 0
        due: list[Connection] = []
        #: Connections that get the same frame, by notation, list and cursor.
        groups: dict[tuple[str, Wanted, int], list[Connection]] = {}
        for connection in self._tiers[interval]:
            session = connection.session
            is_due = now >= connection.heartbeat_at or connection.announced_state != state
            if session.mark is mark and not is_due:
                continue
            if not connection.idle():
                self._passed_over += 1
                continue
            if is_due:
                due.append(connection)
            if session.mark is mark:
                continue
            wants = (session.encoding.subprotocol, session.wanted, session.mark.revision)
            groups.setdefault(wants, []).append(connection)
        for connections in groups.values():
            sent, size = _send_one_frame(connections, now)
            frames += sent
            length += size
        if frames:
            self._count(frames, length)
            if self.mirror.published_at:
                self.ages.observe(max(0.0, self._wall_clock() - self.mirror.published_at))
        # After the tick's frames: a connection that is busy at every sweep gets its heartbeats here.
        self._beat(due, now, state)

    def count(self, frames: Iterable[Frame]) -> None:
        """Counts frames that the stream sent outside the hub."""
        for frame in frames:
            self._count(1, len(frame))

    def sweep(self) -> None:
        """Sends due heartbeats and disconnects slow consumers; call it twice a second."""
        now = self._clock()
        state = self.mirror.state(now)
        due: list[Connection] = []
        for connection in list(self._connections):
            if not connection.idle():
                self._disconnect_if_slow(connection, now)
            elif now >= connection.heartbeat_at or connection.announced_state != state:
                due.append(connection)
        self._beat(due, now, state)

    def statistics(self) -> dict[str, int]:
        """Returns counts since the start, and the number of open connections."""
        return {
            "connections": len(self._connections),
            "frames_sent": self._frames_sent,
            "length_sent": self._length_sent,
            "passed_over": self._passed_over,
            "expelled": self._disconnected,
        }

    def _beat(self, due: Sequence[Connection], now: float, state: FeedState) -> None:
        if not due:
            return
        timestamp, market = iso_utc(self._wall_clock()), self._market()
        for connection in due:
            connection.heartbeat_at = now + self._heartbeat_seconds
            connection.announced_state = state
            frame = connection.session.heartbeat(timestamp, state, market)
            connection.start(frame, now)
            self._count(1, len(frame))

    def _count(self, frames: int, length: int) -> None:
        self._frames_sent += frames
        self._length_sent += length

    def _enter(self, connection: Connection) -> None:
        interval = connection.session.interval
        self._connections[connection] = interval
        self._tiers[interval][connection] = None

    def _disconnect_if_slow(self, connection: Connection, now: float) -> None:
        if not connection.busy and now - connection.sent_at > self._slow_seconds:
            self._disconnected += 1
            self.leave(connection)
            connection.disconnect(CloseCode.SLOW)


def _send_one_frame(connections: Sequence[Connection], now: float) -> tuple[int, int]:
    """Sends the same frame to connections of one group; returns the number of frames and their length."""
    first = connections[0].session
    frame = first.advance()
    for connection in connections[1:]:
        connection.session.copy_position(first)
    if frame is None:
        return 0, 0
    for connection in connections:
        connection.start(frame, now)
    return len(connections), len(connections) * len(frame)
