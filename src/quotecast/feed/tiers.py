"""The connections of one interval of a hub: cohorts with equal subscriptions, and stragglers."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from quotecast.close_codes import CloseCode
from quotecast.feed.entry import QuoteEntry
from quotecast.feed.meters import Meter
from quotecast.feed.mirror import FeedState, Mark
from quotecast.feed.session import FeedSession
from quotecast.feed.subscription import Key, Subscription
from quotecast.framing import Frame

#: Seconds that a client may take for a frame, however steadily it reads: the worker holds what is unread.
MAX_PAUSE_SECONDS: Final = 120.0


class Writer(Protocol):
    """A client's socket."""

    @property
    def ready(self) -> bool:
        """Whether the socket has taken everything that was written."""
        ...

    @property
    def paused_at(self) -> float:
        """Monotonic time since which it is not ready."""
        ...

    def write(self, frame: Frame) -> object:
        """Starts to send a frame and returns at once."""
        ...


class Backlog:
    """The bytes that a socket has not taken, as of the last look at it."""

    __slots__ = ("_taken_at", "_unsent")

    def __init__(self, unsent: int = 0, now: float = 0.0) -> None:
        self._unsent = unsent
        #: When a look last found fewer bytes than the one before.
        self._taken_at = now

    def is_slow(self, writer: Writer, now: float, seconds: float) -> bool:
        """Returns whether a socket that is not ready has taken nothing for some seconds.

        A socket that takes bytes is slow after `MAX_PAUSE_SECONDS`.
        """
        # A writer that does not know its unsent bytes shows no progress.
        before, self._unsent = self._unsent, getattr(writer, "unsent", 0)
        if self._unsent < before:
            self._taken_at = now
        paused_at = writer.paused_at
        return now - max(paused_at, self._taken_at) > seconds or now - paused_at > MAX_PAUSE_SECONDS


class Connection:
    """A session and its socket, as the hub sees them."""

    __slots__ = (
        "announced_state",
        "backlog",
        "busy",
        "cohort",
        "disconnect",
        "heartbeat_at",
        "heartbeat_seconds",
        "meter",
        "session",
        "writer",
    )

    def __init__(
        self,
        session: FeedSession,
        writer: Writer,
        disconnect: Callable[[CloseCode], bool],
        meter: Meter | None = None,
    ) -> None:
        self.session = session
        self.writer = writer
        #: Ends the connection with a close code; returns whether it was not ending already.
        self.disconnect = disconnect
        #: Adds up the frames that the hub sends; other connections may share it.
        self.meter = meter
        #: True while a command is answered. The hub sends nothing then, so that frames stay in order.
        self.busy = False
        self.heartbeat_at = 0.0
        #: Seconds between two heartbeats; None is the hub's own interval.
        self.heartbeat_seconds: float | None = None
        #: The feed's state that the client last received; a client assumes `live`.
        self.announced_state: FeedState = "live"
        #: None for a straggler, and outside the hub.
        self.cohort: Cohort | None = None
        self.backlog = Backlog()

    def idle(self) -> bool:
        """Returns whether the connection is ready for the next frame."""
        return self.writer.ready and not self.busy


class Cohort:
    """Connections that share a subscription, and with it a cursor."""

    __slots__ = ("members", "meters", "subscription")

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.members: dict[Connection, None] = {}
        #: The number of members of each meter.
        self.meters: Counter[Meter] = Counter()


class Tier:
    """The connections of one interval: cohorts by the key of their subscription, and stragglers.

    Every cohort has all changes up to `mark`. A tick serves only the cohorts whose symbols changed, so the
    subscription of another one may have an older mark: `bring_up` moves it to the tier's.
    """

    __slots__ = ("_by_symbol", "_departed", "_unindexed", "cohorts", "mark", "stragglers")

    def __init__(self, mark: Mark) -> None:
        self.mark = mark
        self.cohorts: dict[Key, Cohort] = {}
        self.stragglers: dict[Connection, None] = {}
        #: The cohorts of each symbol, with those that have lost their last member since the last rebuild.
        self._by_symbol: dict[str, list[Cohort]] = {}
        self._departed = 0
        #: Cohorts that every change may concern.
        self._unindexed: dict[Cohort, None] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no connection has this interval."""
        return not self.cohorts and not self.stragglers

    def concerned_by(self, changed: Sequence[QuoteEntry]) -> Collection[Cohort]:
        """Returns the cohorts that may have to send something after these changes, and perhaps others."""
        by_symbol = self._by_symbol
        concerned = [by_symbol[entry.key] for entry in changed if entry.key in by_symbol]
        if sum(map(len, concerned)) > len(self.cohorts):
            return [*self.cohorts.values()]
        found = dict(self._unindexed)
        for cohorts in concerned:
            found |= dict.fromkeys(cohorts)
        return [cohort for cohort in found if cohort.members]

    def bring_up(self, subscription: Subscription) -> None:
        """Moves the mark of a cohort's subscription, which lacks no change, to the tier's."""
        subscription.mark = self.mark

    def join_cohort(self, connections: Sequence[Connection]) -> None:
        """Moves stragglers with equal subscriptions, which have caught up, to their cohort."""
        subscription = connections[0].session.subscription
        key = subscription.key
        cohort = self.cohorts.get(key)
        if cohort is None:
            cohort = self.cohorts[key] = Cohort(subscription)
            self._index(cohort)
        for connection in connections:
            del self.stragglers[connection]
            connection.session.subscription = cohort.subscription
            connection.cohort = cohort
            cohort.members[connection] = None
            if connection.meter is not None:
                cohort.meters[connection.meter] += 1

    def make_straggler(self, connection: Connection) -> None:
        """Makes a straggler of a cohort's member, with a subscription of its own."""
        cohort = connection.cohort
        assert cohort is not None, "stragglers have no cohort to leave"  # noqa: S101 - narrows the type
        self.bring_up(cohort.subscription)
        connection.cohort = None
        connection.session.subscription = cohort.subscription.copy()
        self.stragglers[connection] = None
        del cohort.members[connection]
        if connection.meter is not None:
            cohort.meters[connection.meter] -= 1
            if not cohort.meters[connection.meter]:
                del cohort.meters[connection.meter]
        if not cohort.members:
            self._drop(cohort)

    def _index(self, cohort: Cohort) -> None:
        if not cohort.subscription.concerns_only_its_keys:
            self._unindexed[cohort] = None
            return
        by_symbol = self._by_symbol
        for key in cohort.subscription.keys:
            if key in by_symbol:
                by_symbol[key].append(cohort)
            else:
                by_symbol[key] = [cohort]

    def _drop(self, cohort: Cohort) -> None:
        """Forgets a cohort; rebuilds the index when it holds more departed cohorts than present ones."""
        del self.cohorts[cohort.subscription.key]
        if self._unindexed.pop(cohort, cohort) is None:
            return
        self._departed += 1
        if self._departed > len(self.cohorts):
            self._departed = 0
            self._by_symbol.clear()
            for each in self.cohorts.values():
                if each not in self._unindexed:
                    self._index(each)
