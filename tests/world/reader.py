"""A reader of REST or UDF in a world: it polls with ETags, and checks each answer and each limit."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from world.asking import ask, travel
from world.bar_truth import Break
from world.loop import Process
from world.network import Network
from world.questions import Mark, Question

#: Requests of one address and path in a minute.
LIMIT: Final = 30
WINDOW_SECONDS: Final = 60.0
_ANSWER_SECONDS: Final = 5.0
Find = Callable[[str], Process | None]


class Answer(NamedTuple):
    """An answer: when it came, from which worker, and its status."""

    at: float
    server: str
    status: int


class Reader:
    """One program that asks one question again and again, at any worker."""

    def __init__(
        self,
        question: Question,
        servers: Sequence[str],
        network: Network,
        find: Find,
        *,
        pause: float,
        chance: random.Random,
        broken: Break,
        host: Any,
        hub: str,
        key: str = "",
        limit: int = LIMIT,
    ) -> None:
        self._hub = hub
        #: Requests that it began, and the answers that came.
        self.asked = 0
        self.answers: list[Answer] = []
        self._key = [(b"x-api-key", key.encode())] if key else []
        self._limit = limit
        #: Times at which admitted requests began and ended.
        self._admitted: list[tuple[float, float]] = []
        self.host = host
        self._question = question
        self._servers = servers
        self._network = network
        self._find = find
        self._pause = pause
        self._chance = chance
        self._broken = broken
        #: The last body by its tag.
        self._tag = b""
        self._items: Mapping[str, Any] = {}

    async def run(self) -> None:
        """Polls without end."""
        while True:
            await asyncio.sleep(self._chance.uniform(0.5, 1.5) * self._pause)
            server = self._chance.choice(self._servers)
            try:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    await self._poll(server)
            except (OSError, TimeoutError):
                continue

    async def _poll(self, server: str) -> None:
        began = self._network.loop.now
        await travel(self._network, self.host.name, server)
        process = self._find(server)
        if process is None or process.http is None:
            raise ConnectionRefusedError(server)
        answered: asyncio.Future[tuple[int, dict[bytes, bytes], bytes, Mark, Mark]] = (
            asyncio.get_running_loop().create_future()
        )
        self.asked += 1
        process.run(self._ask(process, answered))
        status, headers, body, before, after = await answered
        await travel(self._network, server, self.host.name)
        self.answers.append(Answer(self._network.loop.now, server, status))
        if status == 429 or (status == 401 and self._key):
            return
        if status in {200, 304}:
            self._admitted.append((began, self._network.loop.now))
        if status == 200:
            self._tag, self._items = headers[b"etag"], self._question.parse(body)
        elif status == 304 and headers[b"etag"] != self._tag:
            self._broken("an unchanged answer is unchanged", f"304 has another tag than {self._tag!r}")
        elif status == 404:
            self._tag, self._items = b"", {}
        elif status not in {304, 503}:
            self._broken("no errors", f"GET of {self._question.path} answered {status}: {body!r}")
        if status in {200, 304, 404}:
            for promise, what in self._question.problems(self._items, before, after):
                self._broken(promise, f"{self._question.path} of {server}: {what}")

    async def _ask(self, process: Process, answered: "asyncio.Future[Any]") -> None:
        """Runs the application in the worker's process."""
        mirror = process.parts.hubs[self._hub].mirror
        before = Mark.of(mirror)
        tag = [(b"if-none-match", self._tag)] if self._tag else []
        question = self._question
        answer = await ask(process.http, self.host, question.path, question.query, [*tag, *self._key])
        if not answered.done():
            answered.set_result((*answer, before, Mark.of(mirror)))

    def check_limit(self, workers: int) -> None:
        """Checks that no minute has more requests than its limit, times the workers that decided alone."""
        windows = workers * self._question.windows
        began = sorted(start for start, _ in self._admitted)
        ended = sorted(end for _, end in self._admitted)
        for start in began:
            surely = sum(start <= each for each in began) - sum(
                each > start + WINDOW_SECONDS for each in ended
            )
            if surely > self._limit * windows:
                self._broken(
                    "limits are never exceeded",
                    f"{surely} requests of {self._limit * windows} from {start:.3f} s",
                )
                return
