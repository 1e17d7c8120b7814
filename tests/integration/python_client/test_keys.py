"""API keys and tickets on the sockets of both faces of the Python client."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

import quotecast_client.backoff
from quotecast_client import AsyncClient, Client, QuoteChange, StreamRefused
from support.clients.client_faces import skip_certificates

KEY = "qc_live_0123456789abcdef01234567_CANARY-secret-of-43-characters-0123456789abc"

Refusal = tuple[int, int, str]
FULL: Refusal = (403, 4453, 'Plan "free" has at most 2 sockets')
CHANGED: Refusal = (403, 4452, "The rights of the key changed")
ENDED: Refusal = (401, 4401, "The API key has expired")
EXCLUDED: Refusal = (403, 4403, 'Plan "free" includes doviz only')


class Feeds:
    """Refuses connections in turn, and then sends a quote to each; remembers the handshakes."""

    def __init__(self, *refusals: Refusal) -> None:
        self._refusals = list(refusals)
        self.keys: list[str | None] = []
        self.tokens: list[str | None] = []
        self.paths: list[str] = []

    async def serve(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.keys.append(socket.request.headers.get("X-API-Key"))
        self.tokens.append(socket.request.headers.get("Authorization"))
        self.paths.append(socket.request.path)
        if self._refusals:
            code, close_code, detail = self._refusals.pop(0)
            await socket.send(json.dumps({"type": "error", "code": code, "detail": detail}))
            await socket.close(close_code)
            return
        place = {"epoch": "e", "seq": 1}
        await socket.send(json.dumps({"type": "welcome", "feeds": {"market": place}, "heartbeatMs": 15000}))
        quote = {"type": "stock_quote", "ticker": "AAPL", "price": 1.0}
        snapshot = {"type": "snapshot", "feed": "market", **place, "reason": "resync", "data": [quote]}
        await socket.send(json.dumps(snapshot))
        await socket.wait_closed()


@contextlib.asynccontextmanager
async def serving(feeds: Feeds) -> AsyncIterator[str]:
    async with serve(feeds.serve, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"http://127.0.0.1:{port}"


async def read_first(address: str, **options: Any) -> QuoteChange:
    """Returns the first change of a stream of the asyncio face."""
    async with AsyncClient(address, **options) as client:
        return await client.stream("market:AAPL").__anext__()


async def read_first_blocking(address: str, **options: Any) -> QuoteChange:
    """Returns the first change of a stream of the blocking face."""

    def read() -> QuoteChange:
        with Client(address, **options) as client:
            return next(client.stream("market:AAPL"))

    return await asyncio.to_thread(read)


by_face = pytest.mark.parametrize("read", [read_first, read_first_blocking], ids=["asyncio", "blocking"])


class Tickets:
    """Gives a new ticket at each call."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.count = 0

    def __call__(self) -> str:
        if self._failures:
            raise self._failures.pop(0)
        self.count += 1
        return f"qc_ticket_{self.count}"

    def for_face(self, read: Callable[..., Any]) -> Callable[[], Any]:
        async def give() -> str:
            return self()

        return give if read is read_first else self


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotecast_client.backoff, "FIRST_SECONDS", 0.001)
    skip_certificates(monkeypatch)


@by_face
async def test_each_handshake_carries_the_token_of_a_user(read: Callable[..., Any]) -> None:
    """The feed then has the plan of users."""
    feeds = Feeds(CHANGED)
    async with serving(feeds) as address:
        await read(address, token="t")
    assert (feeds.tokens, feeds.keys, feeds.paths) == (["Bearer t"] * 2, [None] * 2, ["/api/ws"] * 2)


@by_face
async def test_each_handshake_carries_the_key(read: Callable[..., Any]) -> None:
    """Also that of a reconnection after changed rights, and after a full plan."""
    feeds = Feeds(CHANGED, FULL)
    async with serving(feeds) as address:
        change = await read(address, api_key=KEY)
    assert change.quote["price"] == 1.0
    assert feeds.keys == [KEY] * 3
    assert feeds.paths == ["/api/ws"] * 3


@by_face
async def test_each_connection_has_a_new_ticket(read: Callable[..., Any]) -> None:
    feeds = Feeds(CHANGED, FULL)
    async with serving(feeds) as address:
        await read(address, ticket=Tickets().for_face(read))
    assert feeds.paths == [f"/api/ws?ticket=qc_ticket_{number}" for number in (1, 2, 3)]
    assert feeds.keys == [None] * 3


@by_face
async def test_a_source_of_tickets_that_fails_is_asked_again(
    read: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    feeds = Feeds()
    async with serving(feeds) as address:
        await read(address, ticket=Tickets(RuntimeError("no answer")).for_face(read))
    assert feeds.paths == ["/api/ws?ticket=qc_ticket_1"]
    assert "the source of tickets failed: RuntimeError('no answer')" in caplog.text


@by_face
async def test_a_source_of_tickets_can_end_the_stream(read: Callable[..., Any]) -> None:
    tickets = Tickets(StreamRefused(401, "the user has logged out"))
    feeds = Feeds()
    async with serving(feeds) as address:
        with pytest.raises(StreamRefused, match="logged out"):
            await read(address, ticket=tickets.for_face(read))
    assert feeds.paths == []


@by_face
@pytest.mark.parametrize("refusal", [ENDED, EXCLUDED])
async def test_a_refused_key_ends_the_stream(read: Callable[..., Any], refusal: Refusal) -> None:
    feeds = Feeds(refusal)
    async with serving(feeds) as address:
        with pytest.raises(StreamRefused) as caught:
            await read(address, api_key=KEY)
    assert (caught.value.code, caught.value.message) == refusal[1:]
    assert len(feeds.keys) == 1


@by_face
async def test_no_log_and_no_error_shows_a_key_or_a_ticket(
    read: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The library websockets writes the lines of a handshake to its debug log."""
    caplog.set_level(logging.DEBUG)
    for options in ({"api_key": KEY}, {"ticket": Tickets().for_face(read)}):
        async with serving(Feeds(FULL, ENDED)) as address:
            with pytest.raises(StreamRefused) as caught:
                await read(address, **options)
        assert "CANARY" not in f"{caught.value!r} {caught.value}"
    ours = [record.getMessage() for record in caplog.records if record.name != "websockets.server"]
    assert any("connecting again" in line for line in ours)
    assert not any("CANARY" in line or "qc_ticket" in line for line in ours)
