"""A reader of REST or UDF in a world: it polls quotes with ETags, and checks each answer and each limit."""

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from quotecast.market.feeds import Feed
from world.loop import Process
from world.network import Network
from world.truth import Break, FeedTruth

#: Requests of one address and path in a minute.
LIMIT: Final = 30
WINDOW_SECONDS: Final = 60.0
_ANSWER_SECONDS: Final = 5.0
#: How many readers are charts, which ask by UDF.
_CHARTS: Final = 0.25
#: The value of a chart's quote that they check, and the field of the feed that it is.
_CHART_VALUES: Final = {
    Feed.STOCKS: ("lp", "price"),
    Feed.CRYPTO: ("lp", "price"),
    Feed.DOVIZ: ("bid", "buying"),
}

Find = Callable[[str], Process | None]


class Answer(NamedTuple):
    """An answer: when it came, from which worker, and its status."""

    at: float
    server: str
    status: int


class Reader:
    """One program that polls the quotes of a feed, at any worker."""

    def __init__(
        self,
        feed: Feed,
        truth: FeedTruth,
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
        self._feed = feed
        self._truth = truth
        self._servers = servers
        self._network = network
        self._find = find
        self._pause = pause
        self._chance = chance
        self._broken = broken
        self._is_chart = chance.random() < _CHARTS
        self._name = None if self._is_chart else chance.choice([None, *truth.names])
        names_all = self._is_chart or (feed is Feed.STOCKS and not self._name)
        self._query = f"symbols={','.join(truth.names)}".encode() if names_all else b""
        #: The last body by its tag.
        self._tag = b""
        self._items: dict[str, Any] = {}

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
        await self._travel(self.host.name, server)
        process = self._find(server)
        if process is None or process.http is None:
            raise ConnectionRefusedError(server)
        answered: asyncio.Future[tuple[int, dict[bytes, bytes], bytes, list[Any]]] = (
            asyncio.get_running_loop().create_future()
        )
        self.asked += 1
        process.run(self._ask(process, answered))
        status, headers, body, positions = await answered
        await self._travel(server, self.host.name)
        self.answers.append(Answer(self._network.loop.now, server, status))
        if status == 429 or (status == 401 and self._key):
            return
        if status in {200, 304}:
            self._admitted.append((began, self._network.loop.now))
        if status == 200:
            self._tag, self._items = headers[b"etag"], self._by_key(body)
        elif status == 304 and headers[b"etag"] != self._tag:
            self._broken("an unchanged answer is unchanged", f"304 has another tag than {self._tag!r}")
        elif status == 404:
            self._tag, self._items = b"", {}
        elif status not in {304, 503}:
            self._broken("no errors", f"GET of {self._feed} answered {status}: {body!r}")
        if status in {200, 304, 404}:
            self._check(server, positions)

    async def _ask(self, process: Process, answered: "asyncio.Future[Any]") -> None:
        """Runs the application in the worker's process."""
        status, headers, body = 0, {}, b""
        mirror = process.parts.hubs[self._hub].mirror
        before = mirror.epoch, mirror.mark.seq

        async def send(message: Any) -> None:
            nonlocal status, headers, body
            if message["type"] == "http.response.start":
                status, headers = message["status"], dict(message["headers"])
            else:
                body += message.get("body", b"")

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        path = f"/api/{'udf' if self._is_chart else self._feed.spec.name}/quotes"
        if self._name:
            path += f"/{self._name}"
        tag = [(b"if-none-match", self._tag)] if self._tag else []
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": self._query,
            "headers": [(b"host", b"world"), *tag, *self._key],
            "client": (self.host.address, 1),
            "server": ("world", 8000),
        }
        await process.http(scope, receive, send)
        after = mirror.epoch, mirror.mark.seq
        if not answered.done():
            answered.set_result((status, headers, body, [before, after]))

    async def _travel(self, source: str, target: str) -> None:
        while self._network.is_cut(source, target):  # noqa: ASYNC110 - as TCP, which tries again
            await asyncio.sleep(0.2)
        await asyncio.sleep(self._network.latency(source, target))

    def _by_key(self, body: bytes) -> dict[str, Any]:
        quotes = msgspec.json.decode(body)
        if self._is_chart:
            value, _ = _CHART_VALUES[self._feed]
            return {each["n"]: each["v"][value] for each in quotes["d"] if each["s"] == "ok"}
        if self._name:
            return {self._name: quotes}
        key = "symbol" if self._feed is Feed.DOVIZ else "ticker"
        listed = quotes.values() if isinstance(quotes, dict) else quotes
        return {quote[key]: quote for quote in listed}

    def _check(self, server: str, positions: list[Any]) -> None:
        (epoch, first), (last_epoch, last) = positions
        numbers = range(first, last + 1) if epoch == last_epoch else [last]
        states = [self._part(self._truth.states.get((last_epoch, number), {})) for number in numbers]
        if self._items not in states:
            self._broken(
                "an answer equals the feed",
                f"{self._feed} of {server} at {last_epoch}-{last} is none of its states",
            )

    def _part(self, state: dict[str, Any]) -> dict[str, Any]:
        """Returns what the reader asks for of a state."""
        if self._is_chart:
            _, field = _CHART_VALUES[self._feed]
            return {key: item[field] for key, item in state.items()}
        return {key: item for key, item in state.items() if self._name in {None, key}}

    def check_limit(self, workers: int) -> None:
        """Checks that no minute has more requests than its limit, times the workers that decided alone."""
        # A name that has no quote for a moment counts in the window of all unknown names meanwhile.
        windows = workers if self._name is None else 2 * workers
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
