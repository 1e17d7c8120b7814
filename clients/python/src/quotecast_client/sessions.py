"""The client's side of one socket of all feeds: frames in, changes and commands out; no I/O."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from quotecast_client.copies import NOTHING, Changes, Copy
from quotecast_client.errors import StreamRefused
from quotecast_client.names import Feed, Names, folded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from quotecast_client.backoff import Backoff
    from quotecast_client.endings import Ending
    from quotecast_client.live_bars import LiveInterval

#: `connecting` without a connection, `refused` if the service has no such feed; the server says the others.
State = Literal["connecting", "live", "stale", "down", "refused"]

SUBPROTOCOL = "quotecast.v1.rows"
DEFAULT_HEARTBEAT_SECONDS = 15.0
#: Milliseconds between two updates that the service offers.
INTERVALS = (100, 250, 500, 1000, 5000)
_NO_PROVIDER, _NO_DATA = 404, 503
#: Codes of an error that names no feed: the service refuses the connection, and closes it.
_REFUSALS = frozenset({401, 403, 503})


class Wishes(NamedTuple):
    """The subscription of a stream, beside its symbols."""

    interval: int = 250
    fields: Sequence[str] | None = None
    bars: LiveInterval | None = None


class Session:
    """Subscribes to lists of feeds on each new connection, and merges frames into their copies."""

    def __init__(self, wanted: Mapping[Feed, Names], wishes: Wishes, backoff: Backoff) -> None:
        self.copies: dict[Feed, Copy] = {feed: Copy(feed) for feed in wanted}
        self.states: dict[Feed, State] = dict.fromkeys(wanted, "connecting")
        #: Seconds without a frame after which the connection counts as lost.
        self.silence = 2 * DEFAULT_HEARTBEAT_SECONDS
        #: Symbols that the service does not know, as `feed:symbol`.
        self.rejected: set[str] = set()
        self._wanted = wanted
        self._wishes = wishes
        self._backoff = backoff
        self._retry_after: float | None = None
        self._interval = wishes.interval
        #: Why the service refuses the connection; its close code says whether another one may help.
        self._refusal = ""
        #: Feeds with a subscription on this connection.
        self._subscribed: set[Feed] = set()
        self._commands: list[str] = []
        self._without_bars: list[Feed] = []

    def take(self, message: str | bytes) -> Changes:
        """Merges a frame. Raises StreamRefused if the service has none of the feeds, or rejects a command."""
        frame: dict[str, Any] = json.loads(message)
        kind = frame["type"]
        if kind == "welcome":
            self._welcome(frame)
        elif kind == "shutdown":
            self._retry_after = frame["retryAfterMs"] / 1000
        elif kind == "error":
            self._take_error(frame)
        elif frame.get("feed") in self.copies:
            return self._take_of_feed(frame["feed"], frame)
        return NOTHING

    def commands(self) -> list[str]:
        """Returns the commands to send now."""
        commands, self._commands = self._commands, []
        return commands

    def feeds_without_bars(self) -> list[Feed]:
        """Returns the feeds whose closed bars to read from REST now: after snapshots and at heartbeats."""
        feeds, self._without_bars = self._without_bars, []
        return feeds

    def lost(self, ending: Ending) -> float:
        """Notes that a connection ended, or could not be made; returns the seconds to wait before the next.

        Raises StreamRefused after an end that is final.
        """
        self._commands.clear()
        refusal, self._refusal = self._refusal, ""
        if ending.is_final:
            self._set_states("refused")
            reason = refusal or ending.reason or "the service refuses the stream"
            raise StreamRefused(ending.code or 0, reason)
        self._set_states("connecting")
        asked, self._retry_after = self._retry_after, None
        if asked is None:
            return max(self._backoff.wait(), ending.retry_after)
        return self._backoff.spread(asked)

    def _set_states(self, state: State) -> None:
        self.states.update({feed: state for feed, now in self.states.items() if now != "refused"})

    def _welcome(self, frame: dict[str, Any]) -> None:
        self.silence = 2 * frame["heartbeatMs"] / 1000
        self._interval = allowed_interval(self._wishes.interval, frame.get("limits", {}).get("interval", 0))
        self._subscribed.clear()
        self.rejected.clear()
        for feed, copy in self.copies.items():
            copy.take(frame)
            if feed in frame["feeds"]:
                self._subscribe(feed)
            else:
                self._refuse(feed, f"the service or the plan of the API key has no feed {feed}")

    def _take_of_feed(self, feed: Feed, frame: dict[str, Any]) -> Changes:
        kind = frame["type"]
        if kind == "snapshot":
            self._backoff.reset()
            self.states[feed] = "live"
        elif kind == "heartbeat":
            self.states[feed] = frame["state"]
            if feed not in self._subscribed and frame["state"] != "down":
                self._subscribe(feed)
        elif kind == "subscribed":
            self.rejected.update(f"{feed}:{each['symbol']}" for each in frame["rejected"])
        changes = self.copies[feed].take(frame)
        if self.copies[feed].bars.missing and kind in {"snapshot", "heartbeat"}:
            self._without_bars.append(feed)
        return changes

    def _take_error(self, frame: dict[str, Any]) -> None:
        feed, code, detail = frame.get("feed"), frame["code"], frame["detail"]
        if feed is None and code in _REFUSALS:
            self._refusal = detail
        elif feed not in self.copies:
            raise StreamRefused(code, detail)
        elif code == _NO_DATA:
            self._subscribed.discard(feed)
            self.states[feed] = "down"
        elif code == _NO_PROVIDER:
            self._refuse(feed, detail)
        else:
            raise StreamRefused(code, detail)

    def _refuse(self, feed: Feed, detail: str) -> None:
        self.states[feed] = "refused"
        if all(state == "refused" for state in self.states.values()):
            raise StreamRefused(_NO_PROVIDER, detail)

    def _subscribe(self, feed: Feed) -> None:
        """Resumes the part of the list that the copy covers, and then adds the rest."""
        self._subscribed.add(feed)
        wanted, copy = self._wanted[feed], self.copies[feed]
        if copy.cursor is None or not copy.symbols:
            self._command(feed, wanted, "none", **self._options(copy))
            return
        self._command(feed, copy.symbols, copy.since, **self._options(copy))
        covered = {folded(name) for name in copy.symbols}
        if rest := frozenset(name for name in wanted if wanted != "all" and folded(name) not in covered):
            self._command(feed, rest, None)

    def _options(self, copy: Copy) -> dict[str, Any]:
        _, fields, bars = self._wishes
        options: dict[str, Any] = {
            "interval": self._interval,
            "fields": "all" if fields is None else list(fields),
        }
        if bars is not None:
            options["bars"] = bars
            if copy.cursor is not None and copy.bars.since is not None:
                options["barsSince"] = copy.bars.since
        return options

    def _command(self, feed: Feed, names: Names, since: str | None, **options: Any) -> None:
        command: dict[str, Any] = {"action": "subscribe", "feed": feed, **options}
        command["symbols"] = "all" if names == "all" else sorted(names)
        if since is not None:
            command["since"] = since
        self._commands.append(json.dumps(command))


def allowed_interval(wanted: int, least: int) -> int:
    """Returns the wanted interval, or the next one that a plan with a least interval allows."""
    if wanted >= least:
        return wanted
    return next((each for each in INTERVALS if each >= least), INTERVALS[-1])
