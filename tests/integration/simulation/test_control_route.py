"""The control route: scenarios of a running vendor, for clients that have its token."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from quotecast.errors import ServerFailedError
from quotecast.simulation.market.scenarios.planning import MAX_PLANNED
from quotecast.simulation.vendors import control
from quotecast.simulation.vendors.server import VendorServer
from support.servers.simulated_session import serving

TOKEN = "a-token"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@asynccontextmanager
async def _controlled() -> AsyncIterator[tuple[VendorServer, str]]:
    async with serving("tiny") as server, control.serving(server, TOKEN, "127.0.0.1", 0) as url:
        yield server, url


@asynccontextmanager
async def _client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(headers=BEARER) as client:
        yield client


async def test_a_scenario_starts_is_listed_and_ends() -> None:
    async with _controlled() as (server, url), _client() as client:
        begun = await client.post(url, json={"name": "maintenance", "seconds": 9})
        refused = await client.get(server.url)
        listed = (await client.get(url)).json()
        ended = await client.delete(url)
        served = await client.get(server.url)
    scenario = {
        "name": "maintenance",
        "seconds": 9.0,
        "start": "2026-11-20T14:28:00.000Z",
        "end": "2026-11-20T14:28:09.000Z",
    }
    assert (begun.status_code, begun.json() | scenario) == (201, begun.json())
    assert (refused.status_code, refused.json()) == (503, {"error": "maintenance"})
    assert listed["running"] == [begun.json()]
    assert listed["planned"] == []
    assert any(line.startswith("open-burst: ") for line in listed["known"])
    assert (ended.status_code, ended.json()["running"]) == (200, [])
    assert served.status_code == 200


async def test_a_scenario_may_start_later() -> None:
    async with _controlled() as (_, url), _client() as client:
        begun = await client.post(url, json={"name": "frozen", "at": "+60"})
        listed = (await client.get(url)).json()
    assert begun.json()["start"] == "2026-11-20T14:29:00.000Z"
    assert (listed["running"], listed["planned"]) == ([], [begun.json()])


@pytest.mark.parametrize(
    ("body", "status", "code", "detail"),
    [
        (b"", 400, "bad_request", "The body is not JSON"),
        (b"{", 400, "bad_request", "The body is not JSON"),
        (b"\xff", 400, "bad_request", "The body is not JSON"),
        (b"[" * 60_000, 400, "bad_request", "The body is not JSON"),
        (b"[]", 422, "invalid", 'Give an object such as {"name": "open-burst", "factor": 5}'),
        (b'{"name":3}', 422, "invalid", 'Give an object such as {"name": "open-burst", "factor": 5}'),
        (b'{"name":"nope"}', 422, "invalid", "there is no scenario 'nope'; known are "),
        (b'{"name":"frozen","seconds":-1}', 422, "invalid", "frozen: seconds: Must be at least 0.1"),
        (b'{"name":"frozen","seconds":{}}', 422, "invalid", "frozen: seconds: Must be a number"),
        (
            b'{"name":"frozen","symbols":["APPL"]}',
            422,
            "invalid",
            "frozen: symbols: there is no 'APPL'; name tickers ",
        ),
        (b'{"name":"frozen","more":1}', 422, "invalid", "frozen: there is no parameter 'more'; it has "),
        (b'{"name":"frozen","at":[]}', 422, "invalid", "frozen: at '[]' is not a start"),
        (b" " * 65_537, 413, "too_large", "The body may have at most 65536 bytes"),
    ],
)
async def test_wrong_bodies(body: bytes, status: int, code: str, detail: str) -> None:
    async with _controlled() as (server, url), _client() as client:
        answer = await client.post(url, content=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["detail"].startswith(detail)
    assert server.market.schedule.planned == ()


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer a-toke", "Basic a-token", "Bearer a-token2", "é"]
)
async def test_only_the_token_opens_the_route(given: str | None) -> None:
    headers: dict[bytes, bytes] = {} if given is None else {b"Authorization": given.encode()}
    async with _controlled() as (server, url), httpx.AsyncClient() as client:
        answer = await client.post(url, json={"name": "frozen"}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert server.market.schedule.planned == ()


async def test_other_paths_and_methods_are_unknown() -> None:
    async with _controlled() as (_, url), _client() as client:
        assert (await client.get(url + "/else")).status_code == 404
        answer = await client.put(url)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST, DELETE")


async def test_scenarios_are_bounded() -> None:
    async with _controlled() as (_, url), _client() as client:
        answers = [
            await client.post(url, json={"name": "frozen", "at": "+9"}) for _ in range(MAX_PLANNED + 1)
        ]
    assert [answer.status_code for answer in answers] == [201] * MAX_PLANNED + [409]


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        (b"nonsense\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET /scenarios HTTP/1.1\r\nno header\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET /scenarios HTTP/1.1\r\nx: " + b"y" * 20_000 + b"\r\n\r\n", b"HTTP/1.1 431 "),
        (
            b"GET /scenarios HTTP/1.1\r\nauthorization: Bearer a-token\r\ncontent-length: -1\r\n\r\n",
            b"HTTP/1.1 400 ",
        ),
        (
            b"GET /scenarios HTTP/1.1\r\nauthorization: Bearer a-token\r\ncontent-length: "
            + b"9" * 5000
            + b"\r\n\r\n",
            b"HTTP/1.1 413 ",
        ),
        (
            b"GET /scenarios HTTP/1.1\r\nauthorization: Bearer a-token\r\ntransfer-encoding: x\r\n\r\n",
            b"HTTP/1.1 400 ",
        ),
    ],
)
async def test_malformed_requests(sent: bytes, received: bytes) -> None:
    async with _controlled() as (_, url), _client() as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(url).port)
        writer.write(sent)
        assert (await reader.readexactly(len(received))) == received
        writer.close()
        assert (await client.get(url)).status_code == 200


async def test_connections_without_a_request_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that sends nothing ends after a bounded time, and then others are served."""
    monkeypatch.setattr(control, "REQUEST_SECONDS", 0.3)
    async with _controlled() as (_, url), _client() as client:
        silent = [
            await asyncio.open_connection("127.0.0.1", httpx.URL(url).port)
            for _ in range(control.MAX_REQUESTS * 2)
        ]
        for reader, writer in silent:
            assert await reader.read() == b""
            writer.close()
        assert (await client.get(url)).status_code == 200


async def test_a_taken_port_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with serving("tiny") as server:
            with pytest.raises(ServerFailedError, match=f"no control route on port {port} of 127.0.0.1"):
                await control.serving(server, TOKEN, "127.0.0.1", port).__aenter__()
