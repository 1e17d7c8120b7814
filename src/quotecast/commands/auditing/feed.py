"""The audit of one feed of a quotecast service: frames in, figures out; no I/O."""

from typing import Any, Final

from quotecast.commands.auditing.figures import Agreement, Moment, QuoteFigures, Seen, Silence
from quotecast.commands.auditing.report import (
    QUIETEST,
    BackwardsReport,
    DayReport,
    FeedAuditReport,
    GapReport,
    SilenceReport,
    StateChange,
    age_report,
    rate,
    rest_report,
    rounded,
)
from quotecast_client import Copy, Feed

#: Share of its interval after which a heartbeat is late.
_LATE: Final = 1.5
#: State changes that the report shows.
_STATES: Final = 100
#: Seconds between two batches that may change no quote: they close a minute's bars.
_CLOSING_SECONDS: Final = 60.0


class FeedAudit:
    """Takes the frames of one feed, over any number of connections.

    `is_whole` says that the subscription is of all symbols: then a heartbeat ahead of the frames is a gap.
    """

    def __init__(self, feed: Feed, start: Moment, *, is_whole: bool) -> None:
        self.copy = Copy(feed)
        self.quotes = QuoteFigures()
        self.agreement = Agreement()
        self.frames = Silence(start.steady)
        self.heartbeats = Silence(start.steady)
        #: Numbers of frames, of late heartbeats, of gaps, and of steps back of the cursor.
        self.messages = self.late = self.missed = self.epochs = self.resyncs = self.backwards = 0
        #: Seconds since the start, and the state of the feed from then on.
        self.states: list[tuple[float, str]] = []
        self.rejected: list[str] = []
        #: Seconds between two heartbeats, as the service says.
        self.heartbeat_seconds = 15.0
        self._is_whole = is_whole
        self._start = start
        self._state = ""

    def take(self, frame: dict[str, Any], now: Moment) -> None:
        """Merges a frame. Raises KeyError, TypeError or ValueError for one that breaks the protocol."""
        kind = frame["type"]
        self.messages += 1
        self.frames.note(now.steady)
        before = self.copy.cursor
        changes = self.copy.take(frame)
        if kind in {"snapshot", "update", "bars", "heartbeat"}:
            self._compare_cursors(before, frame)
        if kind == "heartbeat":
            self.late += self.heartbeats.note(now.steady) > _LATE * self.heartbeat_seconds
            # The socket of one feed has the state in `feed`, where that of all feeds has the name.
            state = frame["state"] if "state" in frame else frame["feed"]
            if state != self._state and len(self.states) < _STATES:
                self.states.append((now.steady - self._start.steady, state))
            self._state = state
        elif kind == "subscribed":
            self.rejected = [each["symbol"] for each in frame["rejected"]]
        for change in changes.quotes:
            symbol, quote = change.symbol, {**change.quote}
            if change.removed:
                self.quotes.forget(symbol)
                self.agreement.forget(symbol)
                continue
            timestamp: Any = quote.get("timestamp")
            price: Any = quote.get("price")
            time = self.quotes.take(symbol, timestamp, now, counts=kind == "update")
            if time is not None and price is not None:
                self.agreement.take_quote(symbol, Seen(time, price))

    def report(self, now: Moment, day: DayReport | None) -> FeedAuditReport:
        """Returns the figures up to now; `day` are those of the service."""
        seconds, quotes = now.steady - self._start.steady, self.quotes
        quotes.ages.settle()
        self.agreement.finish()
        return FeedAuditReport(
            messages=self.messages,
            quotes=quotes.count,
            messages_per_second=rate(self.messages, seconds),
            quotes_per_second=rate(quotes.count, seconds),
            symbols=len(self.copy.quotes),
            ages=age_report(quotes.ages),
            silences=SilenceReport(
                round(self.frames.longest(now.steady), 3),
                round(self.heartbeats.longest(now.steady), 3),
                self.late,
                rounded(quotes.quietest(QUIETEST, now.steady)),
            ),
            backwards=BackwardsReport(quotes.backwards, self.backwards),
            gaps=GapReport(self.missed, self.epochs, self.resyncs),
            rest=rest_report(self.agreement),
            states=[StateChange(round(at, 3), state) for at, state in self.states],
            rejected=self.rejected,
            day=day,
        )

    def _compare_cursors(self, before: str | None, frame: dict[str, Any]) -> None:
        """Counts what a new position says about frames that did not come."""
        after, is_resync = self.copy.cursor, frame.get("reason") == "resync"
        if before is None or after is None:
            return
        self.resyncs += is_resync and frame["type"] == "snapshot"
        (old_epoch, old_seq), (epoch, seq) = _position(before), _position(after)
        self.epochs += epoch != old_epoch
        if epoch != old_epoch or is_resync:
            return
        self.backwards += seq < old_seq
        closings = 1 + self.heartbeat_seconds // _CLOSING_SECONDS
        if self._is_whole and frame["type"] == "heartbeat":
            self.missed += seq - old_seq > closings


def _position(cursor: str) -> tuple[str, int]:
    epoch, _, seq = cursor.rpartition("-")
    return epoch, int(seq)
