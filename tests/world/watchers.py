"""Users in a world who wait for the events of their alerts: each event reaches its user once."""

import asyncio
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from quotecast.api.accounts.alert_waits import LOOK_SECONDS
from quotecast.users.tokens import Claims, Tokens
from world.alerts import USERS
from world.asking import Answered, ask, travel
from world.clock import WALL, wall_time
from world.faults import Fault
from world.loop import Host, Process
from world.postgres_data import Event

if TYPE_CHECKING:
    from world.world import World

#: How many worlds have users who wait.
_WATCHED: Final = 1 / 3
_WATCHERS: Final = 2
#: Seconds for which a request waits, and those for its answer after that.
_WAITS: Final = (0, 3, 10)
_ANSWER_SECONDS: Final = 4.0
_PAUSE: Final = (0.2, 1.5)
#: Seconds between two looks whether the server is still there.
_LOOK_SECONDS: Final = 0.5
#: Seconds from an event to the answer of a request that waits, without any hint from Redis.
_LATE_SECONDS: Final = LOOK_SECONDS + 1.5
#: Seconds after a fault in which a worker's connections to PostgreSQL recover.
_RECOVERY_SECONDS: Final = 5.0
_DAY: Final = 86_400


class Given(NamedTuple):
    """An answer with events: its worker, when the request came and was answered, and the oldest of them."""

    server: str
    began: float
    answered: float
    event: Event


def has_watchers(seed: int) -> bool:
    """Draws whether users of a world wait for events."""
    return random.Random(f"watchers of {seed}").random() < _WATCHED


def draw_faults(seed: int, workers: int, first: float, last: float) -> list[Fault]:
    """Returns cuts of the lines between users who wait and workers, from a generator of their own."""
    chance = random.Random(f"lines of watchers of {seed}")
    if not has_watchers(seed) or chance.random() < 1 / 2:
        return []
    worker = f"worker-{chance.randint(1, workers)}"
    return [Fault("partition", chance.uniform(first, last), chance.uniform(0.3, 6.0), "watcher-1", worker)]


def add(world: "World", workers: list[str]) -> None:
    """Adds users who logged in before the world began, to some worlds."""
    for number, user in enumerate(USERS[:_WATCHERS] if has_watchers(world.seed) else ()):
        name, session = f"watcher-{number + 1}", f"{number:024x}"
        host = world.hosts[name] = world.new_host(name)
        world.postgres.tables.sessions[session] = user
        watcher = Watcher(world, host, user, _token(user, session, world.settings.jwt_secret), workers)
        world.watchers.append(watcher)
        world.add(name, watcher.run)


class Watcher:
    """A user's page: it asks any worker for the events after the last one that it has, and waits for them."""

    def __init__(
        self,
        world: "World",
        host: Host,
        user: str,
        token: str,
        servers: Sequence[str],
    ) -> None:
        self._world = world
        self._host = host
        self._user = user
        self._headers = [(b"authorization", f"Bearer {token}".encode())]
        self._servers = servers
        self._network = world.network
        self._chance = random.Random(f"{host.name} of {world.seed}")
        self._broken = world.break_promise
        #: What its next request names.
        self._last = 0
        #: The ids of events in the order in which they came.
        self._came: list[int] = []
        self._given: list[Given] = []

    async def run(self) -> None:
        """Asks without end."""
        while True:
            wait, server = self._chance.choice(_WAITS), self._chance.choice(self._servers)
            try:
                async with asyncio.timeout(wait + _ANSWER_SECONDS):
                    await self._ask(server, wait)
            except (OSError, TimeoutError):
                pass
            await asyncio.sleep(self._chance.uniform(*_PAUSE))

    async def _ask(self, server: str, wait: int) -> None:
        await travel(self._network, self._host.name, server)
        process = self._world.running(server)
        if process is None or process.http is None:
            raise ConnectionRefusedError(server)
        answered: asyncio.Future[tuple[Answered, float]] = asyncio.get_running_loop().create_future()
        began = wall_time()
        process.run(self._ask_there(process, wait, answered))
        while not answered.done():
            await asyncio.wait([answered], timeout=_LOOK_SECONDS)
            if not process.is_alive and process.host.has_power:
                raise ConnectionResetError(server)
        answer, at = answered.result()
        await travel(self._network, server, self._host.name)
        if answer.status == 200:
            self._take(server, began, at, msgspec.json.decode(answer.body))
        elif answer.status not in {429, 503}:
            self._broken("no errors", f"{self._host.name} got {answer.status}: {answer.body!r}")

    async def _ask_there(
        self, process: Process, wait: int, answered: "asyncio.Future[tuple[Answered, float]]"
    ) -> None:
        """Runs the request in the worker's process."""
        query = f"after={self._last}&wait={wait}".encode()
        answer = await ask(process.http, self._host, "/api/alerts/events", query, self._headers)
        if not answered.done():
            answered.set_result((answer, wall_time()))

    def _take(self, server: str, began: float, answered: float, data: dict[str, Any]) -> None:
        """Takes the events of an answer."""
        stored = self._world.postgres.tables.alert_events
        for each in data["events"]:
            event, what = stored.get(each["id"]), f"{self._host.name} got {each}"
            if self._came and each["id"] <= self._came[-1]:
                self._broken("an event comes once, in its order", f"{what} after {self._came[-1]}")
            self._came.append(each["id"])
            if event is None or event.user_id != self._user:
                self._broken("nobody gets another user's events", f"{what} of {event}")
            elif (each["alert_id"], each["measured"]) != (event.alert_id, event.value):
                self._broken("an event is shown as it is", f"{what} of {event}")
        self._last = data["last"]
        if data["events"] and (oldest := stored.get(data["events"][0]["id"])):
            self._given.append(Given(server, began, answered, oldest))

    def check(self, faults: Sequence[Fault], *, clocks_are_right: bool) -> None:
        """Checks that every event of the user came, and woke the request that waited for it."""
        stored = self._world.postgres.tables.alert_events.values()
        own = [event.id for event in stored if event.user_id == self._user]
        if sorted(own) != self._came:
            self._broken("each event comes", f"{self._host.name} got {self._came} of {sorted(own)}")
        for given in self._given if clocks_are_right else ():
            made = max(given.began, given.event.made_at.timestamp())
            if given.answered - made > _LATE_SECONDS and not any(
                _may_delay(fault, given.server, made, given.answered) for fault in faults
            ):
                seconds = given.answered - made
                self._broken("an event ends a wait", f"{self._host.name} waited {seconds:.3f} s for {given}")


def _may_delay(fault: Fault, server: str, begin: float, end: float) -> bool:
    """Returns whether a fault may keep a worker from an event between two Unix times.

    An event has the time of its statement, and an ingest may freeze before the commit.
    """
    if {fault.target, fault.other}.isdisjoint({server, "postgres", "ingest-1", "ingest-2"}):
        return False
    at = WALL + fault.at
    return at < end and begin < at + fault.seconds + _RECOVERY_SECONDS


def _token(user: str, session: str, secret: str) -> str:
    """Returns the token of a login an hour before the world began; it draws none of the world's entropy."""
    issued = int(WALL) - 3600
    tokens = Tokens([secret], lifetime_seconds=_DAY, clock=wall_time)
    return tokens._sign(Claims(user, issued, issued + 7 * _DAY, "token", 0, session))
