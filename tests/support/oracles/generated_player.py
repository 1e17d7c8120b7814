"""Plays a generated case: the service's own sessions send the frames; its mirrors have the copies."""

import json
import random
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from quotecast.feed.client import ClientSession
from quotecast.feed.commands import Query
from quotecast.feed.encoding import JSON, ROWS
from quotecast.feed.frames import Limits
from quotecast.feed.session import FeedSession
from quotecast.framing import Frame
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval
from support.stages.generated_feed import GeneratedFeed

Step = dict[str, Any]


class Plan(NamedTuple):
    """The parts of one case."""

    feeds: tuple[Feed, ...]
    seed: int
    rows: bool = False
    bars: LiveInterval | None = None
    #: Selected fields, between which the client changes.
    fields: tuple[tuple[str, ...], ...] = ()
    #: Groups that the client may follow.
    groups: tuple[str, ...] = ()
    events: int = 22

    @property
    def name(self) -> str:
        """The name of the case."""
        feeds = "-".join(feed.spec.name for feed in self.feeds)
        parts = ["generated", feeds, "rows" * self.rows, f"bars-{self.bars}" if self.bars else ""]
        parts += ["fields" * bool(self.fields), "groups" * bool(self.groups), str(self.seed)]
        return "-".join(part for part in parts if part)


class Player:
    """One case: a client on a worker that follows generated feeds."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.steps: list[Step] = []
        self._random = random.Random(plan.seed)
        self._feeds = {feed.spec.name: GeneratedFeed(feed, self._random) for feed in plan.feeds}
        self._among_feeds = len(plan.feeds) > 1
        self._worker = 0
        self._request = 0
        self._fields: tuple[str, ...] | None = next(iter(plan.fields), None)
        #: By feed, the position of the newest frame that has one, and the time of the newest closing.
        self._cursors: dict[str, str] = {}
        self._closed: dict[str, str] = {}

    def play(self) -> list[Step]:
        """Returns the steps of the case."""
        first = {name: self._some(feed) for name, feed in self._feeds.items()}
        extra: Step = {"fields": list(self._fields)} if self._fields else {}
        extra |= {"bars": self.plan.bars} if self.plan.bars else {}
        self._add("connect", {name: {"symbols": names, **extra} for name, names in first.items()})
        self._open({name: ",".join(names) for name, names in first.items()}, {})
        for _ in range(self.plan.events):
            event = self._random.choice(self._events())
            if self._has_lists() or event == self._subscribe:
                event(self._random.choice([*self._feeds]))
        self._tick_all()
        self._expect()
        return self.steps

    def _events(self) -> list[Callable[[str], None]]:
        quiet = (
            [self._rename, self._list_or_remove, self._take_over] if not self.plan.bars else [self._wait] * 3
        )
        fields = [self._select] if self.plan.fields else []
        lists = [self._subscribe, self._unsubscribe] if not self.plan.groups else [self._subscribe]
        always = [self._trade] * 6 + [self._beat, self._reconnect, self._lose]
        return [*always, *quiet, *fields, *lists]

    # what the market does

    def _trade(self, name: str) -> None:
        self._feeds[name].trade(self._random.choice([0.5, 2.0, 9.0]))
        if self._random.random() < 0.6:
            self._tick_all()

    def _rename(self, name: str) -> None:
        self._feeds[name].rename()

    def _list_or_remove(self, name: str) -> None:
        self._feeds[name].list_or_remove()

    def _take_over(self, name: str) -> None:
        self._feeds[name].take_over()

    def _wait(self, name: str) -> None:
        """Waits until the minute has ended and closed, then trades in the next one."""
        feed = self._feeds[name]
        feed.wait(63.0 - feed.now % 60)
        feed.trade(1.0)
        self._tick_all()
        self._expect()

    # what the client does

    def _subscribe(self, name: str) -> None:
        self._command(name, "subscribe", symbols=self._some(self._feeds[name]))

    def _unsubscribe(self, name: str) -> None:
        wanted = self._session(name).subscription.wanted
        if wanted is not None and len(wanted) > 1:
            self._command(name, "unsubscribe", symbols=[self._random.choice(sorted(wanted))])

    def _select(self, name: str) -> None:
        self._fields = self._random.choice(self.plan.fields)
        self._command(name, "subscribe", fields=list(self._fields))

    def _beat(self, name: str) -> None:
        """Sends what has changed, then a heartbeat."""
        self._tick_all()
        timestamp = iso_utc(self._feeds[name].now)
        self._take(name, [self._session(name).heartbeat(timestamp, "live", "open")])
        self._expect()

    def _lose(self, name: str) -> None:
        """Breaks the connection while frames are on their way."""
        self._feeds[name].trade(0.5)
        for session in self._client.feeds.values():
            session.subscription.advance()
        self._reconnect(name)

    def _reconnect(self, _name: str) -> None:
        """Breaks the connection, and resumes it at any worker after some changes."""
        asked: dict[str, Step] = {}
        for name, cursor in self._cursors.items():
            session = self._session(name)
            wanted, projection = session.subscription.wanted, session.subscription.form.projection
            asked[name] = {"symbols": sorted(wanted or ()), "since": cursor}
            if projection.fields:
                asked[name]["fields"] = list(projection.fields)
            if self.plan.bars:
                asked[name]["bars"] = self.plan.bars
                asked[name]["bars_since"] = self._closed.get(name)
                if asked[name]["bars_since"] is None:
                    del asked[name]["bars_since"]
        self._add("reconnect", asked)
        for name in sorted(asked):
            if self._random.random() < 0.5:
                self._feeds[name].trade(0.5)
        self._worker = self._random.randrange(2)
        self._open({name: ",".join(each["symbols"]) for name, each in asked.items()}, asked)
        self._expect()

    def _open(self, lists: dict[str, str], asked: dict[str, Step]) -> None:
        mirrors = [feed.workers[self._worker] for feed in self._feeds.values()]
        encoding = ROWS if self.plan.rows else JSON
        self._client = ClientSession(
            mirrors, Limits(), encoding, among_feeds=self._among_feeds, connection=f"{self.plan.seed:016x}"
        )
        queries = {
            name: Query(
                names,
                since=asked.get(name, {}).get("since"),
                fields=",".join(self._fields) if self._fields else None,
                bars=self.plan.bars,
                bars_since=asked.get(name, {}).get("bars_since"),
            )
            for name, names in lists.items()
        }
        welcome, *answers = self._client.open(queries)
        self._take("", [welcome])
        self._take_answers(answers)

    def _command(self, name: str, action: str, **given: Any) -> None:
        self._request += 1
        feed = {"feed": name} if self._among_feeds else {}
        command = {"action": action, **feed, **given, "id": self._request}
        self.steps.append({"send": command})
        self._take_answers(self._client.receive(json.dumps(command), 0.0))
        if self._random.random() < 0.5:
            self._expect()

    # what the case has

    def _tick_all(self) -> None:
        for name, session in self._client.feeds.items():
            self._take(name, session.subscription.advance())

    def _take_answers(self, frames: Iterable[Frame]) -> None:
        alone = next(iter(self._feeds))
        for frame in frames:
            name = json.loads(frame.payload).get("feed", alone)
            self._take(name, [frame])

    def _take(self, name: str, frames: Iterable[Frame]) -> None:
        """Adds frames, and the bars that a client reads from REST after them."""
        for frame in frames:
            parsed = json.loads(frame.payload)
            if "data" in parsed:  # in the order of a set, which differs between processes
                parsed["data"].sort(key=_key_of)
            self.steps.append({"frame": parsed})
            if parsed["type"] in {"snapshot", "update", "heartbeat", "bars"} and parsed["epoch"]:
                self._cursors[name] = f"{parsed['epoch']}-{parsed['seq']}"
            if "closed" in parsed:
                self._closed[name] = parsed["closed"]["time"]
            if parsed["type"] == "bars" and parsed.get("reason") in {"subscribe", "resync"}:
                self._read_closed(name, parsed["interval"])

    def _read_closed(self, name: str, interval: LiveInterval) -> None:
        feed, wanted = self._feeds[name], self._session(name).subscription.wanted
        closed = feed.final_bars(interval, wanted, feed.now)
        named = {"feed": name} if self._among_feeds else {}
        self.steps.append({"rest": {**named, "interval": interval, "bars": closed}})

    def _expect(self) -> None:
        """Adds the copies that the client must have now, if they are those of the worker."""
        copies: dict[str, Step] = {}
        for name, session in self._client.feeds.items():
            subscription = session.subscription
            if subscription.mark != session.mirror.mark:
                return
            feed = self._feeds[name]
            quotes = feed.quotes(session.mirror, subscription.wanted, subscription.form.projection.fields)
            copies[name] = {"cursor": self._cursors[name], "quotes": quotes}
            if self.plan.bars:
                bars = feed.bars(session.mirror, self.plan.bars, subscription.wanted)
                if bars is None:
                    return
                copies[name] |= {"bars": {self.plan.bars: bars}, "missing": False}
        self._add("copy", copies)

    def _add(self, kind: str, by_feed: dict[str, Step]) -> None:
        self.steps.append({kind: by_feed if self._among_feeds else next(iter(by_feed.values()))})

    def _has_lists(self) -> bool:
        """Returns whether no list is empty, as one is when its last symbol is gone."""
        return all(session.subscription.wanted for session in self._client.feeds.values())

    def _session(self, name: str) -> FeedSession:
        return self._client.feeds[name]

    def _some(self, feed: GeneratedFeed) -> list[str]:
        """Returns some names that the feed knows."""
        if self.plan.groups:
            members = feed.workers[0].members()
            return [self._random.choice([group for group in self.plan.groups if group in members])]
        known = sorted(feed.workers[0].quotes())
        return sorted(self._random.sample(known, self._random.randint(1, min(2, len(known)))))


def _key_of(item: Any) -> str:
    key: str = item[0] if isinstance(item, list) else item.get("ticker", item.get("symbol"))
    return key
