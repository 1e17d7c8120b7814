"""Fan-out of one feed: at each tick of an interval, the hub sends every connection one merged update.

Connections with equal subscriptions stand in a cohort and get the same frame. There is no queue: a connection
whose last send is still pending leaves its cohort as a straggler, and the skipped changes merge into its next
update (conflation); with that it catches up and joins its cohort again. The hub disconnects a slow consumer,
which accepts nothing for ten seconds, or takes more than two minutes for a frame.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import structlog

from quotecast.close_codes import CloseCode
from quotecast.feed import meters
from quotecast.feed.commands import INTERVALS
from quotecast.feed.encoding import Encoding
from quotecast.feed.frames import Label
from quotecast.feed.meters import Meter
from quotecast.feed.mirror import FeedState, Mark, Mirror
from quotecast.feed.subscription import Key
from quotecast.feed.tiers import Cohort, Connection, Tier
from quotecast.framing import Frame
from quotecast.market.codec import iso_utc
from quotecast.observe.histograms import Histogram

SLOW_AFTER_SECONDS: Final = 10.0

log = structlog.get_logger()


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
        self._tiers: dict[int, Tier] = {interval: Tier(mirror.mark) for interval in INTERVALS}
        #: The feed's state at the last tick or sweep.
        self._state: FeedState = "live"
        #: Connections that get a heartbeat as soon as they are idle.
        self._due: dict[Connection, None] = {}
        self._frames_sent = 0
        self._length_sent = 0
        self._passed_over = 0
        self._disconnected = 0
        #: Called when an interval may have its first connection.
        self.on_enter: Callable[[], None] = lambda: None
        #: Counts of reconnects with a cursor, by their outcome: `resume` or `resync`.
        self.resumptions: Counter[str] = Counter()
        #: Seconds from the publication of the newest batch to the tick that sends it.
        self.ages = Histogram()

    def __len__(self) -> int:
        """Returns the number of open connections."""
        return len(self._connections)

    def join(self, connection: Connection) -> None:
        """Starts to serve a connection that has received its greeting."""
        connection.heartbeat_at = self._clock() + self._seconds_between(connection)
        self.enter(connection)

    def enter(self, connection: Connection) -> None:
        """Serves a connection, at the interval of its session."""
        if self._state != connection.announced_state or self._clock() >= connection.heartbeat_at:
            self._due[connection] = None
        interval = connection.session.interval
        self._connections[connection] = interval
        self._tiers[interval].stragglers[connection] = None
        self.on_enter()

    def leave(self, connection: Connection) -> None:
        """Forgets a connection; its session then has a subscription of its own."""
        interval = self._connections.pop(connection, None)
        if interval is None:
            return
        tier = self._tiers[interval]
        if connection.cohort is not None:
            tier.make_straggler(connection)
        del tier.stragglers[connection]
        self._due.pop(connection, None)

    def serves(self, interval: int) -> bool:
        """Returns whether any connection has this interval."""
        return not self._tiers[interval].is_empty

    def tick(self, interval: int) -> None:
        """Sends every ready connection of one interval its update, and due heartbeats.

        An interval without connections leaves the mirror's batches undecoded, for a longer one to merge.
        """
        if not self.serves(interval):
            return
        now = self._clock()
        state = self._announce(now)
        due = [connection for connection in self._due if connection.idle()] if self._due else []
        tier = self._tiers[interval]
        before = self._frames_sent
        mark = self.mirror.mark
        if tier.mark is not mark:
            if tier.cohorts:
                for cohort in tier.concerned_by(self.mirror.changes_since(tier.mark.revision)):
                    self._serve_cohort(tier, cohort)
            tier.mark = mark
        if tier.stragglers:
            self._catch_up(tier)
        if self._frames_sent > before and self.mirror.published_at:
            self.ages.observe(max(0.0, self._wall_clock() - self.mirror.published_at))
        # After the tick's frames: a connection that is busy at every sweep gets its heartbeats here.
        self._beat(due, now, state)

    def sweep(self) -> None:
        """Sends due heartbeats and disconnects slow consumers; call it twice a second."""
        now = self._clock()
        state = self._announce(now)
        for connection in [*self._connections]:
            if now >= connection.heartbeat_at:
                self._due[connection] = None
            writer = connection.writer
            if writer.ready or connection.busy:
                continue
            if connection.backlog.is_slow(writer, now, self._slow_seconds):
                self.leave(connection)
                self._disconnected += connection.disconnect(CloseCode.SLOW)
        self._beat([connection for connection in self._due if connection.idle()], now, state)

    def statistics(self) -> dict[str, int]:
        """Returns counts since the start."""
        return {
            "frames_sent": self._frames_sent,
            "length_sent": self._length_sent,
            "passed_over": self._passed_over,
            "expelled": self._disconnected,
        }

    def _serve_cohort(self, tier: Tier, cohort: Cohort) -> None:
        """Sends a cohort its frames.

        A member that is not ready leaves first, so its mark stays at its last frame.
        """
        late = [member for member in cohort.members if member.busy or not member.writer.ready]
        for connection in late:
            tier.make_straggler(connection)
        members, subscription = cohort.members, cohort.subscription
        if members:
            tier.bring_up(subscription)
            self._send(members, subscription.advance(), cohort.meters)

    def _catch_up(self, tier: Tier) -> None:
        """Sends stragglers what they miss, with which they join their cohorts."""
        groups: dict[tuple[Key, int], list[Connection]] = {}
        for connection in tier.stragglers:
            subscription = connection.session.subscription
            if connection.idle():
                groups.setdefault((subscription.key, subscription.mark.revision), []).append(connection)
            elif subscription.mark is not self.mirror.mark:
                self._passed_over += 1
        for connections in groups.values():
            frames = connections[0].session.subscription.advance()
            tier.join_cohort(connections)
            metered = Counter(each.meter for each in connections if each.meter is not None)
            self._send(connections, frames, metered)

    def _send(
        self, connections: Collection[Connection], frames: Sequence[Frame], metered: Mapping[Meter, int]
    ) -> None:
        """Sends frames to connections; `metered` is the number of connections of each meter."""
        for frame in frames:
            frame.readers = len(connections)
            for connection in connections:
                try:
                    connection.writer.write(frame)
                except Exception as error:  # noqa: BLE001 - any failure ends this connection only
                    _fail(connection, error)
            self._count(len(connections), len(connections) * len(frame))
            meters.add(metered, frame)

    def _announce(self, now: float) -> FeedState:
        """Returns the feed's state; all connections get a heartbeat when it has changed."""
        state = self.mirror.state(now)
        if state != self._state:
            self._state = state
            self._due.update(
                (connection, None) for connection in self._connections if connection.announced_state != state
            )
        return state

    def _beat(self, due: Sequence[Connection], now: float, state: FeedState) -> None:
        if not due:
            return
        timestamp, market = iso_utc(self._wall_clock()), self._market()
        #: Connections at one mark share the frame.
        frames: dict[tuple[Mark, Label, Encoding, bool], Frame] = {}
        for connection in due:
            del self._due[connection]
            connection.heartbeat_at = now + self._seconds_between(connection)
            announces = state != connection.announced_state
            connection.announced_state = state
            subscription = connection.session.subscription
            if connection.cohort is not None:
                self._tiers[self._connections[connection]].bring_up(subscription)
            form = subscription.form
            key = subscription.mark, form.label, form.encoding, announces
            frame = frames.get(key)
            if frame is None:
                frame = connection.session.heartbeat(timestamp, state, market, announces=announces)
                frames[key] = frame
            try:
                connection.writer.write(frame)
            except Exception as error:  # noqa: BLE001 - any failure ends this connection only
                _fail(connection, error)
            self._count(1, len(frame))
            if connection.meter is not None:
                meters.add({connection.meter: 1}, frame)

    def _seconds_between(self, connection: Connection) -> float:
        """Returns the seconds between two heartbeats of a connection."""
        return connection.heartbeat_seconds or self._heartbeat_seconds

    def _count(self, frames: int, length: int) -> None:
        self._frames_sent += frames
        self._length_sent += length


def _fail(connection: Connection, error: Exception) -> None:
    """Disconnects a connection whose socket failed; the ticker goes on for the others."""
    if connection.disconnect(CloseCode.INTERNAL_ERROR):
        log.error("could not write to a feed's connection", exc_info=error)
