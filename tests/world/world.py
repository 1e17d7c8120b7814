"""One world: its hosts and processes, and what is true in it."""

import asyncio
import random
from collections.abc import Callable, Coroutine, MutableMapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import structlog
from msgspec import Struct

from quotecast.market.feeds import Feed
from quotecast.settings.plans import delayed_prefix
from world import clock, installations, population, programs, watchers
from world.alerts import USERS, Alerts
from world.client import Frontend
from world.clock import PROCESS
from world.disks import Disks
from world.keys import Death, Keys
from world.loop import Host, Process, WorldLoop
from world.network import Network
from world.postgres_server import PostgresServer
from world.reader import Reader
from world.recording_checks import Recordings
from world.recordings import is_recorded
from world.redis_server import RedisServer
from world.replayer import Replayer
from world.truth import FeedTruth
from world.upstream import Venue
from world.watchers import Watcher
from world.webhooks import Receiver

#: How many users have a server that takes events.
_RECEIVERS: Final = 2
Program = Callable[[], Coroutine[Any, Any, None]]


class Line(NamedTuple):
    """One line of a trace."""

    at: float
    who: str
    what: str

    def __str__(self) -> str:
        """Returns the line as text."""
        return f"{self.at:10.3f}  {self.who:<10} {self.what}"


class Broken(NamedTuple):
    """A broken promise: its name, what broke it, and when."""

    promise: str
    what: str
    at: float


class Size(Struct, frozen=True, kw_only=True):
    """How large a world is, and which parts it has."""

    feeds: Sequence[Feed]
    symbols: int
    workers: int
    edges: int
    frontends: int
    readers: int
    #: Mean seconds between two updates of a venue.
    pause: float
    #: Seconds by which the delayed feeds are late; 0 for none.
    delay_seconds: int

    @classmethod
    def of(cls, chance: random.Random) -> "Size":
        """Draws a size: small worlds find as much as large ones, and sooner."""
        return cls(
            feeds=chance.sample([*Feed], chance.choice((1, 1, 2, 3))),
            symbols=chance.choice((2, 5, 20)),
            workers=chance.choice((1, 2, 2, 3)),
            edges=chance.choice((0, 1, 1, 2)),
            frontends=chance.choice((4, 6, 12)),
            readers=chance.choice((0, 1, 3)),
            pause=chance.choice((0.1, 0.5, 2.0)),
            delay_seconds=chance.choice((0, 2, 6)),
        )


class World:
    """A cluster on one event loop; everything in it follows from its seed."""

    def __init__(self, seed: int, size: Size, folder: str) -> None:
        """Makes the world of a seed; its ingests may record to a folder."""
        self.size = size
        self.seed = seed
        chance = random.Random(seed)
        self.chance = random.Random(chance.random())
        self.loop = WorldLoop(random.Random(chance.random()))
        self.network = Network(self.loop, random.Random(chance.random()))
        self.loop.network = self.network
        self.hosts: dict[str, Host] = {}
        self.network.hosts = self.hosts
        self.processes: dict[str, Process] = {}
        #: What happened: when, where, and what.
        self.trace: list[Line] = []
        self.broken: list[Broken] = []
        self._programs: dict[str, Program] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        clock.begin(lambda: self.loop.now, random.Random(chance.random()))
        self.loop.set_exception_handler(self._note_exception)
        structlog.configure(
            processors=[self._note_log], wrapper_class=structlog.BoundLogger, cache_logger_on_first_use=False
        )
        self.venues = {
            feed: Venue(feed, self.loop, random.Random(chance.random()), size.symbols, size.pause)
            for feed in size.feeds
        }
        self.is_recorded = is_recorded(seed)
        self.disks = Disks(folder, seed)
        if self.is_recorded:
            self.disks.install()
        self.redis = installations.make(self, seed)
        self.settings = programs.settings_of(
            size.feeds, self.redis.url, size.delay_seconds, folder if self.is_recorded else ""
        )
        self.postgres = PostgresServer()
        self.alerts = Alerts(self.venues.values(), random.Random(chance.random()), self.break_promise)
        self.alerts.store(self.postgres.tables)
        self.keys = Keys(self.postgres.tables, random.Random(chance.random()), self.break_promise)
        self.truths: dict[tuple[str, Feed], FeedTruth] = {}
        for prefix in (self.settings.redis_prefix, delayed_prefix(self.settings)):
            for feed in size.feeds:
                self.truths[prefix, feed] = FeedTruth(feed, prefix, self.break_promise, self.venues[feed])
        for feed in size.feeds:
            late = self.truths[delayed_prefix(self.settings), feed]
            late.follow(self.truths[self.settings.redis_prefix, feed], size.delay_seconds)
        for server in self.redis.servers.values():
            server.observers.append(self._observe)
        live = {feed: self.truths[self.settings.redis_prefix, feed] for feed in size.feeds}
        self.recordings = Recordings(folder, live, self.break_promise)
        programs.prepare(self.venues, self.note, self.recordings.make)
        self.receivers: list[Receiver] = []
        self.frontends: list[Frontend] = []
        self.replayers: list[Replayer] = []
        self.readers: list[Reader] = []
        self.watchers: list[Watcher] = []
        #: The workers that were killed.
        self.deaths: list[Death] = []
        #: How often Redis has lost data.
        self._losses = 0

    def note(self, what: str) -> None:
        """Adds a line to the trace."""
        process = PROCESS.get(None)
        self.trace.append(Line(self.loop.now, process.host.name if process else "world", what))

    def break_promise(self, promise: str, what: str) -> None:
        """Records a broken promise."""
        self.note(f"BROKEN {promise}: {what}")
        self.broken.append(Broken(promise, what, self.loop.now))

    def build(self) -> None:
        """Starts every process."""
        self.redis.start()
        self.add("postgres", self._run_postgres)
        for number, user in enumerate(USERS[:_RECEIVERS]):
            self._add_receiver(f"receiver-{number + 1}", user)
        for number in (1, 2):
            self.add(f"ingest-{number}", partial(programs.run_ingest, self.settings))
        workers = [f"worker-{number + 1}" for number in range(self.size.workers)]
        for name in workers:
            self.add(name, partial(programs.run_worker, self.settings))
        edge_settings = programs.settings_of(self.size.feeds, self.redis.url)
        edges = [f"edge-{number + 1}" for number in range(self.size.edges)]
        for edge, origin in zip(edges, [workers[0], "edge-1"], strict=False):
            self.add(edge, partial(programs.run_edge, edge_settings, origin))
        for venue in self.venues.values():
            self.loop.nobody.run(venue.show_life())
        self._venues_run = [self.loop.nobody.run(venue.run()) for venue in self.venues.values()]
        population.add(self, workers, edges)
        watchers.add(self, workers)

    def note_loss(self, server: RedisServer) -> None:
        """Notes that a server has lost data."""
        self._losses += 1
        server.history = self._losses
        for truth in self.truths.values():
            truth.lose_data()

    def distrust_clocks(self) -> None:
        """Ends the checks that need right clocks."""
        for receiver in self.receivers:
            receiver.clocks_are_right = False
        for truth in self.truths.values():
            truth.distrust_clocks()

    async def revoke_key(self, *, of_page: bool) -> None:
        """Revokes the key of a reader, or of a page, when no transaction writes."""
        while self.postgres.turn.locked():  # noqa: ASYNC110 - a killed server releases nothing
            await asyncio.sleep(0.05)
        if of_page:
            chance = random.Random(f"revocations of {self.seed}")
            self.keys.revoke_page(self.postgres.tables, chance)
        else:
            self.keys.revoke(self.postgres.tables)

    def rest(self) -> None:
        """Lets no venue change any more, and no reader ask."""
        for reader in self.readers:
            self._tasks[reader.host.name].cancel()
        for task in self._venues_run:
            task.cancel()

    def check_live(self) -> None:
        """Checks that every page of the live feeds shows what the venues have."""
        for frontend in self.frontends:
            if not frontend.is_late:
                self._check_page(frontend)

    def check_late(self) -> None:
        """Checks the same of the pages of delayed feeds; one may have no key any more."""
        for frontend in self.frontends:
            if frontend.is_late and not self.keys.is_refused(frontend):
                self._check_page(frontend)

    def check_limits(self, workers: int) -> None:
        """Checks the limits of the readers; some workers may have decided alone."""
        for reader in self.readers:
            reader.check_limit(workers)

    def check_stored_bars(self, *, is_state_kept: bool) -> None:
        """Checks the final bars in PostgreSQL."""
        for (prefix, _), truth in self.truths.items():
            if prefix == self.settings.redis_prefix:
                truth.bars.check_stored(self.postgres.tables.bars, all_of_them=is_state_kept)

    def _check_page(self, frontend: Frontend) -> None:
        for each in frontend.copies.values():
            feed = each.truth.feed
            quotes = {key: msgspec.to_builtins(quote) for key, quote in self.venues[feed].quotes.items()}
            expected = each.shown(quotes)
            if each.copy.quotes != expected:
                self.break_promise("equal again", f"{each.name} of {feed}: {each.difference(expected)}")
            if each.state != "live":
                self.break_promise("live again", f"{each.name} of {feed} is {each.state}")

    def _add_receiver(self, name: str, user: str) -> None:
        host = self.hosts[name] = self.new_host(name)
        receiver = Receiver(name, user, host.address, random.Random(self.chance.random()), self.break_promise)
        self.postgres.tables.webhooks[user] = receiver.webhook
        self.receivers.append(receiver)
        self.add(name, receiver.run)

    def running(self, name: str) -> Process | None:
        """Returns the process of a host; None while there is none."""
        process = self.processes[name]
        return process if process.is_alive else None

    def new_host(self, name: str) -> Host:
        """Makes a host with an address of its own."""
        count = len(self.hosts)
        return Host(name, f"10.0.{count // 250}.{count % 250 + 1}")

    def add(self, name: str, program: Program) -> None:
        """Adds a host with a program, and starts it."""
        self.hosts.setdefault(name, self.new_host(name))
        self._programs[name] = program
        self.start(name)

    def start(self, name: str) -> None:
        """Starts the program of a host."""
        self.hosts[name].has_power = True
        process = self.processes[name] = Process(self.loop, self.hosts[name])
        task = self._tasks[name] = process.run(self._programs[name]())
        task.add_done_callback(partial(self._note_end, name), context=self.loop.nobody.context)

    def start_again(self, name: str) -> None:
        """Starts a program that has ended; one that stops slowly is killed first."""
        if self.processes[name].is_alive and not self._tasks[name].done():
            if self._tasks[name].cancelling() == 0:
                return
            self.kill(name)
        if self.processes[name].is_alive:
            self.processes[name].kill()
        self.note(f"{name} starts")
        self.start(name)

    def kill(self, name: str, *, silently: bool = False) -> None:
        """Kills a process; silently if its machine loses power."""
        process = self.processes[name]
        if name.startswith("worker"):
            self.deaths.append(Death(name, self.loop.now))
        process.kill()
        self.hosts[name].has_power = not silently
        self.network.end(process, silently=silently)

    def stop(self, name: str) -> None:
        """Asks a process to stop, as a signal does."""
        self._tasks[name].cancel()

    async def _run_postgres(self) -> None:
        port = programs.DATABASE_PORT
        server = await self.loop.create_server(self.postgres.connection, "postgres", port)
        try:
            await asyncio.Event().wait()
        finally:
            server.close()

    def _observe(self, server: RedisServer, channel: bytes, payload: bytes) -> None:
        prefix, _, rest = channel.decode().partition(":{")
        feed = rest.partition("}")[0]
        truth = self.truths.get((prefix, Feed(feed))) if rest.endswith(":batches") else None
        if truth is not None:
            truth.observe(server, payload)

    def _note_end(self, name: str, task: "asyncio.Task[None]") -> None:
        if task.cancelled():
            self.note(f"{name} stopped")
        elif error := task.exception():
            self.break_promise("no process fails", f"{name}: {error!r}")
        else:
            self.note(f"{name} ended")
        # As `asyncio.Runner` does when its program has ended.
        for each in sorted(self.processes[name].tasks, key=asyncio.Task.get_name):
            each.cancel()

    def _note_log(self, _logger: Any, level: str, event: MutableMapping[str, Any]) -> str:
        if level != "debug":
            words = " ".join(
                f"{name}={value}" for name, value in event.items() if name not in {"event", "exc_info"}
            )
            self.note(f"{event['event']} {words}".rstrip())
        if level in {"error", "exception"}:
            self.break_promise("no errors in logs", str(event))
        raise structlog.DropEvent

    def _note_exception(self, _loop: Any, context: dict[str, Any]) -> None:
        what = ", ".join(f"{name} {value!r}" for name, value in context.items())
        self.break_promise("no unhandled errors", what)
