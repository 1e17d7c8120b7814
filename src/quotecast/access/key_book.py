"""A worker's copy of the keys in use, sessions of users among them, and of the plans.

A request with a known key asks nobody. The worker looks for changes every POLL_SECONDS, with one row of
PostgreSQL, and reads its keys again when that row says that one changed: a revocation reaches all workers
within a second. While PostgreSQL is away nobody can revoke a key, and known keys stay good for GRACE_SECONDS.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

import structlog
from msgspec import Struct

from quotecast.access import storage
from quotecast.access.errors import InvalidKey
from quotecast.access.key_text import KeyText, digest, parse
from quotecast.access.keys import Key, is_session
from quotecast.access.plans import RESERVED, USER, Plan, of_everybody
from quotecast.backoff import Backoff
from quotecast.database.database import Database
from quotecast.errors import Busy, DatabaseAway, TooManyRequests
from quotecast.limits.fallback import LocalWindow
from quotecast.observe.outages import OutageLog

POLL_SECONDS: Final = 0.5
#: Seconds between two looks during an outage, at most.
RETRY_SECONDS: Final = 2.0
#: Seconds after which all keys are read again, whatever the count of changes says: a restored backup does not
#: count.
RELOAD_SECONDS: Final = 60.0
#: Seconds without PostgreSQL after which known keys are no longer good.
GRACE_SECONDS: Final = 3600.0
#: Keys that a worker knows; the ones used longest ago go first.
MAX_KEYS: Final = 10_000
#: Look-ups of unknown keys at once, those that may wait, and those of one address in a minute.
MAX_LOOKUPS: Final = 4
MAX_WAITING: Final = 100
LOOKUPS_PER_MINUTE: Final = 60

_NEVER: Final = float("-inf")

log = structlog.get_logger()


class Holder(Struct, frozen=True):
    """A good key with its plan."""

    key: Key
    plan_name: str
    plan: Plan


class _Reading(NamedTuple):
    """Some good keys as PostgreSQL has them, and all plans; a missing key is gone."""

    ids: tuple[str, ...]
    keys: dict[str, Key]
    plans: dict[str, Plan]


#: Called with the id of a key that is no longer good, or has other rights than before.
OnEnd = Callable[[str], None]


class KeyBook:
    """The keys that a worker has seen, and the plans.

    `plans` are those of the file. `clock` gives monotonic seconds, `wall_clock` Unix time.
    """

    def __init__(
        self,
        database: Database,
        plans: Mapping[str, Plan],
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._file = plans
        self._stored: Mapping[str, Plan] = {}
        self._clock = clock
        self._wall_clock = wall_clock
        self._sleep = sleep
        self._keys: OrderedDict[str, Key] = OrderedDict()
        #: Keys that no look for changes has covered yet.
        self._new: set[str] = set()
        #: Open sockets by key: such a key stays.
        self._sockets: Counter[str] = Counter()
        self._number = -1
        self._reload_at = _NEVER
        self._read_at = _NEVER
        self._turn = asyncio.Semaphore(MAX_LOOKUPS)
        self._waiting = 0
        self._failures = LocalWindow(60, clock=lambda: int(clock() * 1_000_000_000))
        self._backoff = Backoff(last=RETRY_SECONDS)
        self._outage = OutageLog(clock)
        #: Another object after each change of a known key's rights or secrets, and after the grace time.
        self.state = object()
        #: Called for each key whose sockets must end: it is no longer good, or has other rights.
        self.on_end: OnEnd = lambda _key_id: None

    def __len__(self) -> int:
        return len(self._keys)

    def plan_of(self, name: str) -> Plan | None:
        """Returns a plan by its name; without a plan of their own, users have the anonymous one."""
        if name in RESERVED:
            anonymous, user = of_everybody(self._file)
            return user if name == USER else anonymous
        return self._file.get(name) or self._stored.get(name)

    def known(self, text: str) -> Holder | None:
        """Returns the holder of a key that this worker knows; None otherwise, also for a wrong secret."""
        given = parse(text)
        key = self._keys.get(given.id) if given else None
        if given is None or key is None:
            return None
        self._keys.move_to_end(given.id)
        return self._holder(key, given) if self.is_fresh() else None

    async def find(self, text: str, address: str) -> Holder:
        """Returns the holder of a key. Raises InvalidKey, DatabaseAway, Busy or TooManyRequests.

        `address` is the client's: an address has LOOKUPS_PER_MINUTE wrong keys.
        """
        holder = self.known(text)
        if holder is not None:
            return holder
        failure = self._failures.check(address, LOOKUPS_PER_MINUTE)
        if not failure.admitted:
            raise TooManyRequests(failure.limit, failure.reset)
        given = parse(text)
        if given is None:
            raise InvalidKey
        try:
            key = await self._look_up(given.id)
        except (Busy, DatabaseAway):
            # The key may be a good one.
            self._failures.give_back(address)
            raise
        holder = self._holder(key, given) if key else None
        if holder is None:
            raise InvalidKey
        self._failures.give_back(address)
        return holder

    def named(self, key_id: str) -> Holder | None:
        """Returns the holder of a known key by its id, whose owner was recognised before."""
        key = self._keys.get(key_id)
        return None if key is None else self._of_plan(key)

    async def find_named(self, key_id: str) -> Holder:
        """Returns the holder of a key by its id. Raises InvalidKey, DatabaseAway or Busy."""
        holder = self.named(key_id) if self.is_fresh() else None
        if holder is None:
            key = await self._look_up(key_id)
            holder = self._of_plan(key) if key else None
        if holder is None:
            raise InvalidKey
        return holder

    def hold(self, key_id: str) -> None:
        """Keeps a key in the book while a socket of it is open; see `release`."""
        self._sockets[key_id] += 1

    def release(self, key_id: str) -> None:
        """Ends a `hold`."""
        self._sockets[key_id] -= 1
        if not self._sockets[key_id]:
            del self._sockets[key_id]

    async def run(self) -> None:
        """Follows the changes, and ends keys that expire, without end."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_changes())
            group.create_task(self._follow_time())

    async def _follow_changes(self) -> None:
        while True:
            await self._sleep(await self.step())

    async def _follow_time(self) -> None:
        # Apart from the changes: a look at a PostgreSQL that hangs takes seconds.
        while True:
            await self._sleep(POLL_SECONDS)
            self._end_expired()

    async def step(self) -> float:
        """Looks for changes if any key is in use. Returns the seconds until the next look."""
        if not self._keys:
            self._reload_at = _NEVER
            return POLL_SECONDS
        try:
            self._end_expired()
            everything = self._clock() >= self._reload_at
            number, read = await self._database.session(partial(self._read, everything=everything))
            self._number = number
            self._read_at = self._clock()
            if everything:
                self._reload_at = self._clock() + RELOAD_SECONDS
            if read is not None:
                self._new.difference_update(read.ids)
                self._take(read)
        except Exception as error:  # noqa: BLE001 - a bug here must not end the following
            self._outage.log_error("could not read API keys", error)
            if not self.is_fresh():
                self.state = object()
            return self._backoff.delay()
        self._backoff.reset()
        self._outage.log_end("API keys are read again")
        return POLL_SECONDS

    async def _read(self, connection: Any, *, everything: bool) -> tuple[int, "_Reading | None"]:
        """Returns the number of changes, and what there is after a change.

        The number comes first: a later change raises it again. A key that came after the last look is read
        once more: its look-up may be older than a change that the last look saw.
        """
        number = await storage.number_of_changes(connection)
        changed = number != self._number or everything
        ids = tuple(self._keys if changed else self._new)
        if not ids:
            return number, None
        plans = await storage.known_plans(connection)
        return number, _Reading(ids, await self._good_keys(connection, ids), plans)

    async def _good_keys(self, connection: Any, ids: Collection[str]) -> dict[str, Key]:
        """Returns those keys that PostgreSQL has, without revoked and expired ones."""
        keys = await storage.known_keys(connection, ids)
        return {key_id: key for key_id, key in keys.items() if key.is_good(self._now())}

    async def _read_one(self, connection: Any, *, key_id: str) -> tuple[int, "_Reading"]:
        number = await storage.number_of_changes(connection)
        keys = await self._good_keys(connection, [key_id])
        return number, _Reading((key_id,), keys, await storage.known_plans(connection))

    def _take(self, read: "_Reading") -> None:
        affected = read.ids if read.plans == self._stored else tuple(self._keys)
        before = {key_id: self._rights(key_id) for key_id in affected if key_id in self._keys}
        changed = any(
            self._keys[key_id] != read.keys.get(key_id) for key_id in read.ids if key_id in self._keys
        )
        if changed or read.plans != self._stored:
            self.state = object()
        self._stored = read.plans
        for key_id in read.ids:
            if key_id in read.keys:
                self._keys[key_id] = read.keys[key_id]
            else:
                self._keys.pop(key_id, None)
        for key_id, rights in before.items():
            if self._rights(key_id) != rights:
                self.on_end(key_id)

    async def _look_up(self, key_id: str) -> Key | None:
        """Returns one good key as PostgreSQL has it; any other leaves no trace."""
        if self._waiting >= MAX_WAITING:
            raise Busy
        self._waiting += 1
        try:
            async with self._turn:
                number, read = await self._database.session(partial(self._read_one, key_id=key_id))
        finally:
            self._waiting -= 1
        key = read.keys.get(key_id)
        if key is None:
            return None
        if not self._keys:
            self._read_at = self._clock()
        self._new.add(key_id)
        # It may bring changes before the next look does, and old plans after it.
        self._take(read if number >= self._number else read._replace(plans=dict(self._stored)))
        self._evict()
        return key

    def _evict(self) -> None:
        """Removes the keys used longest ago beyond MAX_KEYS, except those with open sockets."""
        # The newest key is about to be used.
        older = islice(self._keys, len(self._keys) - 1)
        idle = (key_id for key_id in older if key_id not in self._sockets)
        for key_id in list(islice(idle, max(len(self._keys) - MAX_KEYS, 0))):
            del self._keys[key_id]
            self._new.discard(key_id)
            if not is_session(key_id):
                self.state = object()

    def _end_expired(self) -> None:
        now = self._now()
        ended = [key_id for key_id, key in self._keys.items() if not key.is_good(now)]
        for key_id in ended:
            del self._keys[key_id]
            self.state = object()
            self.on_end(key_id)

    def _holder(self, key: Key, given: KeyText) -> Holder | None:
        is_right = key.matches(digest(given.secret), self._now())
        return self._of_plan(key) if is_right else None

    def _of_plan(self, key: Key) -> Holder | None:
        """Returns the holder of a good key whose plan exists."""
        name = key.plan or USER
        plan = self.plan_of(name)
        return Holder(key, name, plan) if plan is not None and key.is_good(self._now()) else None

    def _rights(self, key_id: str) -> tuple[object, ...]:
        """Returns what the rights of a key's sockets come from; its name and its secrets do not count."""
        holder = self.named(key_id)
        return () if holder is None else (holder.plan_name, holder.plan, holder.key.scope)

    def is_fresh(self) -> bool:
        """Whether PostgreSQL answered recently enough for known keys to be good."""
        return self._clock() < self._read_at + GRACE_SECONDS

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._wall_clock(), UTC)
