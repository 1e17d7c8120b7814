"""Calls of the window's script: batches of checks, their keys in Redis, and their deadlines."""

import asyncio
import contextlib
import hashlib
import time
import zlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, NamedTuple

from redis.exceptions import NoScriptError

from quotecast.limits.decision import Decision
from quotecast.redis.client import Client, script
from quotecast.redis.commands import MeasuredCommand, observe
from quotecast.redis.script_line import Script, ScriptConnection

#: Hash tags, so that a Redis Cluster can spread the keys; there a batch is split by tag.
SHARDS: Final = 16
#: Bytes; a longer key is hashed.
MAX_KEY_LENGTH: Final = 96
#: Checks in one script call, which blocks Redis for some 10 µs per check.
MAX_BATCH: Final = 256
#: Seconds for the event loop to read an answer that has already arrived.
_GRACE_SECONDS: Final = 0.002


class KeyNames:
    """Redis names of the keys under one prefix, such as `quotecast:{limits:07}:market 192.0.2.1`."""

    def __init__(self, prefix: str) -> None:
        # Access rules of Redis go by the start of a key, so the hash tag follows the prefix.
        self._shards = [f"{prefix}:{{limits:{shard:02}}}".encode() for shard in range(SHARDS)]

    def name_of(self, key: str) -> bytes:
        """Returns the Redis name of a key; a long key or one beyond ASCII appears as its digest."""
        text = key.encode("utf-8", "surrogatepass")
        if len(text) > MAX_KEY_LENGTH or not text.isascii():
            text = hashlib.blake2b(text, digest_size=16).hexdigest().encode()
        return b"%b:%b" % (self._shards[zlib.crc32(text) % SHARDS], text)


def hash_tag(name: bytes) -> bytes:
    """Returns the part of a name that decides on which node of a cluster it lies."""
    return name.partition(b"}")[0]


class Check(NamedTuple):
    """A request that waits for Redis's decision."""

    key: str
    #: The worker's own decision, which holds when Redis fails.
    local: Decision
    decided: asyncio.Future[Decision]


class ScriptAnswer(NamedTuple):
    """The script's answer to one check; see `window.lua`."""

    #: 1 or 0; of a lease the number of slots, their time and their name.
    admitted: int | list[int]
    remaining: int
    microseconds: int


class Calls:
    """Sends checks to Redis: one call for those of a turn of the event loop, or for those during a call.

    A call may take `budget` seconds: connecting, writing and reading together. `ask` returns the text for the
    script of each check in a batch. `decide` takes a batch, Redis's answers and the time of the call.
    `decide_alone` takes the checks of a call that failed, with those behind its batch, which have waited for
    one call already, and the error. Where one connection leads to all keys, a call is a write from the loop,
    and its answer a callback; connecting, loading the script, clusters and traces need a task.
    """

    def __init__(
        self,
        client: Client,
        source: str,
        names: KeyNames,
        *,
        microseconds: int,
        budget: float,
        clock: Callable[[], int],
        clustered: bool,
        traced: bool,
        ask: Callable[[Sequence[Check], int], Sequence[str]],
        decide: Callable[[Sequence[Check], Sequence[ScriptAnswer], int], None],
        decide_alone: Callable[[Sequence[Check], Exception], None],
    ) -> None:
        self._client = client
        # Traces show only calls through the client itself.
        self.script: Script = client.register_script(source) if traced else script(client, source)
        self._names = names
        self._microseconds = microseconds
        self._budget = budget
        self._clock = clock
        self._clustered = clustered
        self._ask_for = ask
        self._decide = decide
        self._decide_alone = decide_alone
        self._waiting: list[Check] = []
        self._is_busy = False
        self._idle = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        # Of the call under way.
        self._batch: Sequence[Check] = ()
        self._sent_at = 0
        self._began = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        #: Script calls since the start, failed ones included.
        self.made = 0

    def add(self, check: Check) -> None:
        """Sends the check with the others of this turn, or after the call under way."""
        self._waiting.append(check)
        if not self._is_busy:
            self._is_busy = True
            self._idle.clear()
            asyncio.get_running_loop().call_soon(self._send)

    async def settle(self) -> None:
        """Waits until every check is decided."""
        if self._is_busy:
            await self._idle.wait()

    def _send(self) -> None:
        """Makes the next call if checks wait."""
        if not self._waiting:
            self._is_busy = False
            self._idle.set()
            return
        self._batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
        self._sent_at = self._clock()
        self._began = time.perf_counter()
        self.made += 1
        line = self.script
        if isinstance(line, ScriptConnection) and line.start(*self._words(self._batch), self._take):
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(self._budget, self._spend)
        else:
            self._run(self._serve())

    def _words(self, batch: Sequence[Check]) -> tuple[list[bytes], list[int | str]]:
        keys = [self._names.name_of(check.key) for check in batch]
        return keys, [self._microseconds, ",".join(self._ask_for(batch, self._sent_at))]

    def _spend(self) -> None:
        """Waits a moment more: a blocked event loop runs its timers before it reads arrived answers."""
        self._deadline = asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._deadline = None
        if isinstance(self.script, ScriptConnection):
            # `_take` gets an error, in a later turn.
            self.script.give_up()

    def _take(self, answer: Any) -> None:
        """Takes the answer of a call that was written from the loop."""
        late = self._deadline is None
        if self._deadline is not None:
            self._deadline.cancel()
        if isinstance(answer, NoScriptError):
            # Nothing ran: the other way loads the script.
            self._run(self._serve())
        elif isinstance(answer, Exception):
            self._run(self._fail(TimeoutError("Redis did not answer in time") if late else answer))
        else:
            observe("limits", self._began)
            try:
                self._decide(self._batch, _answers(self._batch, answer), self._sent_at)
            except Exception as error:  # noqa: BLE001 - no answer of our script
                self._decide_alone(self._rest(), error)
            self._send()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.get_running_loop().create_task(work)

    async def _fail(self, error: Exception) -> None:
        """Ends a call that failed: measures it, and leaves a former master."""
        with contextlib.suppress(Exception):
            async with MeasuredCommand(self._client, "limits", began=self._began):
                raise error
        self._decide_alone(self._rest(), error)
        self._send()

    async def _serve(self) -> None:
        """Makes the call in a task."""
        try:
            async with MeasuredCommand(self._client, "limits", began=self._began):
                answers = await self._ask_in_time(self._batch)
            self._decide(self._batch, answers, self._sent_at)
        except Exception as failed:  # noqa: BLE001 - a broken connection raises more than RedisError
            self._decide_alone(self._rest(), failed)
        self._send()

    def _rest(self) -> Sequence[Check]:
        rest, self._waiting = [*self._batch, *self._waiting], []
        return rest

    async def _ask_in_time(self, batch: Sequence[Check]) -> Sequence[ScriptAnswer]:
        """Returns Redis's answers to a batch. Raises TimeoutError after `budget` seconds.

        The deadline moves by a moment when it falls due, as in `_spend`.
        """
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(None) as deadline:
            spent = loop.call_later(self._budget, lambda: deadline.reschedule(loop.time() + _GRACE_SECONDS))
            try:
                return await self._ask(batch)
            finally:
                spent.cancel()

    async def _ask(self, batch: Sequence[Check]) -> Sequence[ScriptAnswer]:
        """Returns Redis's answers in order: by one script call, in a cluster by one per hash tag."""
        if not self._clustered:
            return await self._call(batch)
        tags = [hash_tag(self._names.name_of(check.key)) for check in batch]
        parts: dict[bytes, list[Check]] = {tag: [] for tag in tags}
        for tag, check in zip(tags, batch, strict=True):
            parts[tag].append(check)
        by_part = await asyncio.gather(*map(self._call, parts.values()))
        answers = dict(zip(parts, map(iter, by_part), strict=True))
        return [next(answers[tag]) for tag in tags]

    async def _call(self, batch: Sequence[Check]) -> Sequence[ScriptAnswer]:
        """Returns the answers of one script call; a script that Redis lost is loaded, and called again."""
        return _answers(batch, await self.script(*self._words(batch)))


def _answers(batch: Sequence[Check], flat: Sequence[Any]) -> Sequence[ScriptAnswer]:
    answers = list(map(ScriptAnswer, flat[0::3], flat[1::3], flat[2::3]))
    if len(answers) != len(batch):
        raise ValueError("the number of answers differs from the number of checks")
    return answers
