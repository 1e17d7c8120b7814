"""The audit of a quotecast service: watches its feeds, asks REST beside, and returns the report."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx
import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from quotecast.background import run_beside
from quotecast.commands.auditing.feed import FeedAudit
from quotecast.commands.auditing.figures import ClockOffset, Moment, Seen, milliseconds
from quotecast.commands.auditing.report import AuditReport, ClockReport, DayReport, note_progress
from quotecast.errors import QuotecastError, SettingsError
from quotecast_client import AsyncClient, Copy, Feed
from quotecast_client import QuotecastError as RestFailed
from quotecast_client.backoff import Backoff
from quotecast_client.endings import ending_of
from quotecast_client.names import FEEDS, named_feed

_EXAMPLE: Final = "such as ws://127.0.0.1:8000/api/ws/market?symbols=all"
_PATH: Final = "/api/ws"


class FeedAddress(NamedTuple):
    """The address of one feed, or of the socket of all feeds, with its subscription."""

    base: str
    query: dict[str, str]
    #: The subscribed feeds, and whether each one's subscription is of all symbols.
    feeds: Mapping[Feed, bool]
    #: Whether the address is that of the socket of all feeds.
    is_shared: bool
    #: The address of the service's HTTP.
    rest: str

    def resume(self, copies: Mapping[Feed, Copy]) -> str:
        """Returns the address with the cursors of the copies."""
        cursors = {feed: copy.cursor for feed, copy in copies.items() if copy.cursor}
        query = dict(self.query)
        if cursors:
            named = ",".join(f"{feed}:{cursor}" for feed, cursor in cursors.items())
            query["since"] = named if self.is_shared else next(iter(cursors.values())) or ""
        return f"{self.base}?{urlencode(query, safe=',:/')}"


_NO_PROVIDER, _NO_DATA = 404, 503


class AuditRefused(QuotecastError):
    """The service refuses the feed; connecting again does not help."""


class ServiceAudit:
    """Takes the messages of all connections to one address."""

    def __init__(self, address: FeedAddress, start: Moment) -> None:
        self.address = address
        self.feeds: dict[Feed, FeedAudit] = {
            feed: FeedAudit(feed, start, is_whole=is_whole) for feed, is_whole in address.feeds.items()
        }
        #: The service's own figures of the day.
        self.days: dict[Feed, DayReport] = {}
        self.clock = ClockOffset()
        #: Numbers of further connections, of messages that are not frames, and of failed requests to REST.
        self.reconnects = self.unreadable = self.rest_failures = 0
        #: Seconds that the service asked to stay away.
        self.retry_after: float | None = None
        #: Seconds without a frame after which the connection counts as dead.
        self.silence = 30.0
        self._start = start
        self._pings: dict[str, float] = {}

    @property
    def url(self) -> str:
        """The address of the next connection."""
        return self.address.resume({feed: audit.copy for feed, audit in self.feeds.items()})

    def ping(self, now: Moment) -> bytes:
        """Returns a command that asks for the service's time."""
        name = f"audit-{now.unix}"
        self._pings = {name: now.unix}
        return msgspec.json.encode({"action": "ping", "id": name})

    def take(self, message: str | bytes, now: Moment) -> None:
        """Takes a message. Raises AuditRefused, or ConnectionError if another connection may have it."""
        try:
            self._take(msgspec.json.decode(message), now)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.unreadable += 1

    def _take(self, frame: dict[str, Any], now: Moment) -> None:
        match frame["type"]:
            case "welcome":
                self.silence = 2 * frame["heartbeatMs"] / 1000
                for feed in self.feeds.values():
                    feed.heartbeat_seconds = frame["heartbeatMs"] / 1000
                    feed.take(frame, now)
            case "pong":
                sent = self._pings.pop(frame.get("id", ""), None)
                if sent is not None:
                    self.clock.take(frame["timestamp"], sent, now.unix)
                    for feed in self.feeds.values():
                        feed.quotes.ages.correct(self.clock.offset or 0.0)
            case "shutdown":
                self.retry_after = frame["retryAfterMs"] / 1000
            case "error":
                self._take_error(frame)
            case _ if not self.address.is_shared:
                next(iter(self.feeds.values())).take(frame, now)
            case _ if frame["feed"] in self.feeds:
                self.feeds[frame["feed"]].take(frame, now)

    def _take_error(self, frame: dict[str, Any]) -> None:
        feed, code = frame.get("feed"), frame["code"]
        if code == _NO_DATA:
            raise ConnectionError(frame["detail"])
        if code != _NO_PROVIDER or feed not in self.feeds:
            raise AuditRefused(f"{self.address.base} refuses: {frame['detail']} ({code})")
        # Without feeds in the address we ask for all three: a service may have fewer.
        del self.feeds[feed]
        if not self.feeds:
            raise AuditRefused(f"{self.address.base} refuses: {frame['detail']} ({code})")

    def count(self) -> str:
        """Returns a text with the numbers of messages and quotes so far."""
        messages = sum(feed.messages for feed in self.feeds.values())
        quotes = sum(feed.quotes.count for feed in self.feeds.values())
        return f"{messages} messages, {quotes} quotes"

    def report(self, now: Moment) -> AuditReport:
        """Returns the report up to now."""
        clock = None
        if self.clock.offset is not None and self.clock.round_trip is not None:
            clock = ClockReport(round(self.clock.offset, 1), round(self.clock.round_trip, 1))
        return AuditReport(
            source=self.address.resume({}),
            seconds=round(now.steady - self._start.steady, 3),
            clock=clock,
            reconnects=self.reconnects,
            unreadable=self.unreadable,
            rest_failures=self.rest_failures,
            feeds={name: feed.report(now, self.days.get(name)) for name, feed in self.feeds.items()},
        )


def read_address(url: str, rest: str | None) -> FeedAddress:
    """Returns the parts of an address; without symbols it means all. Raises SettingsError."""
    parts = urlsplit(url)
    head, path, tail = parts.path.partition(_PATH)
    name = tail.strip("/")
    if parts.scheme not in {"ws", "wss"} or not parts.netloc or not path or (name and name not in FEEDS):
        raise SettingsError(f"{url} is not the address of a feed, {_EXAMPLE}")
    query = dict(parse_qsl(parts.query))
    if "at" in query:
        raise SettingsError("audit watches live feeds: leave out `at`, which asks for a replay")
    lists: dict[Feed, str] = {feed: names for each, names in query.items() if (feed := named_feed(each))}
    if name:
        lists = {feed: query.setdefault("symbols", "all") for feed in FEEDS if feed == name}
    elif not lists:
        lists = dict.fromkeys(FEEDS, "all")
        query.update(dict.fromkeys(FEEDS, "all"))
    http = "https" if parts.scheme == "wss" else "http"
    return FeedAddress(
        urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", "")),
        query,
        {feed: names.casefold() == "all" for feed, names in lists.items()},
        is_shared=not name,
        rest=(rest or f"{http}://{parts.netloc}{head}").rstrip("/"),
    )


#: Symbols of one feed that a check compares.
SAMPLE: Final = 40
_SUBPROTOCOL: Final = Subprotocol("quotecast.v1.rows")
_OPEN_SECONDS: Final = 10.0
_PING_SECONDS: Final = 5.0
#: Seconds in which the feed may reach the answers of the last check.
_SETTLE_SECONDS: Final = 2.0


def audit(address: FeedAddress, seconds: float, check_every: float) -> AuditReport:
    """Watches for some seconds, or until Ctrl-C. Raises AuditRefused if there is nothing to watch."""
    service = ServiceAudit(address, Moment.now())
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(service, seconds, check_every))
    return service.report(Moment.now())


async def _watch(service: ServiceAudit, seconds: float, check_every: float) -> None:
    following = asyncio.create_task(_follow(service))
    checking = asyncio.create_task(_check(service, seconds, check_every))
    progress = asyncio.create_task(note_progress(seconds, service.count))
    tasks = {following, checking, progress}
    try:
        done, _ = await asyncio.wait({following, checking}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _follow(service: ServiceAudit) -> None:
    """Takes messages indefinitely, over as many connections as it takes. Raises AuditRefused."""
    backoff, connections = Backoff(), 0
    while True:
        try:
            async with connect(
                service.url,
                subprotocols=[_SUBPROTOCOL],
                open_timeout=_OPEN_SECONDS,
                close_timeout=1,
                max_size=None,
            ) as socket:
                service.reconnects += connections > 0
                connections += 1
                backoff.reset()
                # Until the connection breaks, or is silent for two heartbeats.
                async with run_beside(_ping(service, socket)):
                    while True:
                        async with asyncio.timeout(service.silence):
                            message = await socket.recv()
                        service.take(message, Moment.now())
        except (OSError, WebSocketException) as error:
            ending = ending_of(error)
            if ending.is_final or not connections:
                reason = ending.reason or str(error) or type(error).__name__
                raise AuditRefused(f"Cannot watch {service.address.base}: {reason}") from error
            asked, service.retry_after = service.retry_after, None
            await asyncio.sleep(backoff.wait() if asked is None else asked)


async def _ping(service: ServiceAudit, socket: ClientConnection) -> None:
    with contextlib.suppress(WebSocketException):
        while True:
            await socket.send(service.ping(Moment.now()).decode())
            await asyncio.sleep(_PING_SECONDS)


async def _check(service: ServiceAudit, seconds: float, every: float) -> None:
    """Compares with REST at intervals, and at the end."""
    ends = time.monotonic() + seconds
    async with AsyncClient(service.address.rest, retries=1) as client:
        while True:
            left = ends - time.monotonic()
            await asyncio.sleep(max(0.0, min(every, left)))
            for feed, audited in [*service.feeds.items()]:
                await _compare(service, client, feed, audited)
            if left <= every:
                break
        for feed in service.feeds:
            # Without a symbol the service would count the bars of all; some services have no figures.
            symbols = service.feeds[feed].agreement.sample(1)
            with contextlib.suppress(RestFailed, httpx.HTTPError, msgspec.ValidationError):
                answer = await client.quality(feed, *symbols)
                service.days[feed] = msgspec.convert(answer.get("figures"), DayReport)
    if any(feed.agreement.is_waiting for feed in service.feeds.values()):
        await asyncio.sleep(_SETTLE_SECONDS)


async def _compare(service: ServiceAudit, client: AsyncClient, feed: Feed, audited: FeedAudit) -> None:
    symbols = audited.agreement.sample(SAMPLE)
    if not symbols:
        return
    try:
        answers: dict[str, Any] = {**await client.quotes([f"{feed}:{symbol}" for symbol in symbols])}
    except (RestFailed, httpx.HTTPError):
        service.rest_failures += 1
        return
    for symbol in symbols:
        quote = answers.get(f"{feed}:{symbol}")
        if quote and quote.get("timestamp"):
            audited.agreement.take_answer(symbol, Seen(milliseconds(quote["timestamp"]), quote["price"]))
