"""Usage of API keys on a running service of two workers: it equals what clients received."""

import asyncio
import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import asyncpg
import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from quotecast.access.rollup import ROLL_UP_SECONDS
from quotecast.database import migrations
from support.made.keys import KeyMaker
from support.runs.deadlines import scaled
from support.servers.processes import Postgres, running_postgres, running_valkey
from support.servers.service import Service

# Each waits for a worker's roll-up.
pytestmark = pytest.mark.slow

PLANS: Final = """
[plans.free]
feeds = ["crypto"]
requests = { crypto = 2 }
"""
PATH: Final = "/api/ws/crypto?symbols=all&interval=100"
#: Seconds for the roll-ups of all workers.
PATIENCE: Final = 3 * ROLL_UP_SECONDS


class Stage:
    """A service, the keys of its database, and their usage."""

    def __init__(self, service: Service, postgres: Postgres) -> None:
        self.service = service
        self.postgres = postgres
        self.keys = KeyMaker(postgres.url)

    def used(self, key_id: str) -> dict[str, int]:
        """Returns the sums over the days of a key."""
        names = ("requests", "refused", "socket_ms", "quotes", "bytes")

        async def read() -> dict[str, int]:
            connection = await asyncpg.connect(self.postgres.url)
            try:
                sums = ", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in names)
                query = f"SELECT {sums} FROM api_key_usage WHERE key_id = $1"  # noqa: S608 - names above
                row = await connection.fetchrow(query, key_id)
            finally:
                await connection.close()
            return {name: int(row[name]) for name in names}

        return asyncio.run(read())

    def wait_for(self, key_id: str, is_there: Callable[[dict[str, int]], bool]) -> dict[str, int]:
        """Returns the usage of a key as soon as it is as a test expects, or after PATIENCE."""
        deadline = time.monotonic() + scaled(PATIENCE)
        while not is_there(used := self.used(key_id)) and time.monotonic() < deadline:
            time.sleep(0.2)
        return used

    def get(self, key: str, path: str) -> httpx.Response:
        return self.service.get(path, headers={"X-API-Key": key})


@contextlib.contextmanager
def running_stage(plans: Any) -> Iterator[Stage]:
    plans.write_text(PLANS)
    with running_valkey() as valkey, running_postgres() as postgres:
        asyncio.run(migrations.apply(postgres.url))
        settings = {
            "QUOTECAST_DATABASE_URL": postgres.url,
            "QUOTECAST_PLANS": str(plans),
        }
        with Service(valkey, settings) as service:
            service.start("ingest", "api", "api")
            yield Stage(service, postgres)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with running_stage(tmp_path_factory.mktemp("plans") / "plans.toml") as stage:
        yield stage


def read_feed(
    service: Service, key: str, *, seconds: float, path: str = PATH, **more: Any
) -> tuple[int, int]:
    """Returns the quotes and the bytes of all messages that a client receives on a socket."""
    quotes = length = 0
    url = f"ws://127.0.0.1:{service.feed_port}{path}"
    with connect(url, max_size=None, additional_headers={"X-API-Key": key}, **more) as socket:
        closing = False
        end = time.monotonic() + seconds
        with contextlib.suppress(ConnectionClosed):
            while True:
                message = socket.recv(timeout=scaled(10))
                frame = json.loads(message)
                length += len(message.encode() if isinstance(message, str) else message)
                if frame["type"] in {"snapshot", "update"}:
                    quotes += len(frame["data"])
                if closing and frame["type"] == "pong":
                    break
                if not closing and time.monotonic() > end:
                    closing = True
                    # Nothing comes after the answers to these but heartbeats, which are far apart.
                    socket.send('{"action":"unsubscribe","symbols":"all"}')
                    socket.send('{"action":"ping"}')
    return quotes, length


@pytest.mark.parametrize("compression", [None, "deflate"])
def test_sockets_count_what_clients_receive(stage: Stage, compression: str | None) -> None:
    """Bytes are those of messages before permessage-deflate; two workers add up."""
    key_id, key = stage.keys.make()
    began = time.monotonic()
    received = [read_feed(stage.service, key, seconds=1.0, compression=compression) for _ in range(4)]
    quotes, length = (sum(column) for column in zip(*received, strict=True))
    used = stage.wait_for(key_id, lambda now: now["bytes"] >= length and now["requests"] == 4)
    passed = time.monotonic() - began
    assert (used["quotes"], used["bytes"]) == (quotes, length)
    assert used["requests"] == 4
    assert used["refused"] == 0
    assert 4000 <= used["socket_ms"] <= 4 * 1000 * passed


def test_requests_count_with_their_bodies(stage: Stage) -> None:
    """429, a door outside the plan and a scope that excludes a socket count as refused."""
    key_id, key = stage.keys.make("free")
    # A worker that decides without Redis, as on a busy machine, admits two of its own.
    paths = [*["/api/crypto/quotes/BTC-USDT"] * 8, "/api/market/quotes/AAPL"]
    answers = [stage.get(key, path) for path in paths]
    refused = [each.status_code for each in answers if each.status_code != 200]
    assert (refused[0], refused[-1]) == (429, 403)
    with stage.service.feed("/api/ws/market", additional_headers={"X-API-Key": key}) as client:
        assert client.closed() == 4403
    length = sum(int(each.headers["content-length"]) for each in answers)
    used = stage.wait_for(key_id, lambda now: now["requests"] == 10 and now["bytes"] >= length)
    counts = {"requests": 10, "refused": len(refused) + 1}
    assert used == {**counts, "socket_ms": 0, "quotes": 0, "bytes": length}


def test_event_streams_count_as_sockets_do(stage: Stage) -> None:
    """Bytes are those of the events before gzip."""
    key_id, key = stage.keys.make()
    body = b""
    url = f"{stage.service.url}/api/sse/crypto?symbols=BTC-USDT&interval=1000"
    headers = {"X-API-Key": key, "Accept-Encoding": "gzip"}
    with httpx.stream("GET", url, headers=headers, timeout=scaled(10)) as stream:
        for part in stream.iter_bytes():
            body += part
            if body.count(b"\n\n") >= 5:
                break
    used = stage.wait_for(key_id, lambda now: now["bytes"] >= len(body))
    # The worker may have sent more before it heard of the end.
    assert len(body) <= used["bytes"] <= len(body) + 2000
    assert used["quotes"] >= 2
    assert used["requests"] == 1
    assert used["socket_ms"] > 0


def test_requests_without_a_key_leave_no_rows(stage: Stage) -> None:
    """Nor does a wrong key, which is nobody's."""
    key_id, key = stage.keys.make()
    assert stage.service.get("/api/crypto/symbols").status_code == 200
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    # One connection leads to one worker, which rolls up what it counted of both requests.
    with httpx.Client(base_url=stage.service.url) as client:
        answers = [
            client.get("/api/crypto/symbols", headers={"X-API-Key": each}, timeout=scaled(5))
            for each in (wrong, key)
        ]
    assert [each.status_code for each in answers] == [401, 200]
    assert stage.wait_for(key_id, lambda now: now["requests"] >= 1)["requests"] == 1


def test_outage_of_postgres_loses_nothing(stage: Stage) -> None:
    """Known keys stay good during the outage, and their counts arrive after it."""
    key_id, key = stage.keys.make()
    answered = 0
    while answered < 10:  # so that both workers know the key
        answered += stage.get(key, "/api/crypto/symbols").status_code == 200
    stage.postgres.freeze()
    try:
        end = time.monotonic() + 1.5 * ROLL_UP_SECONDS
        while time.monotonic() < end:
            answered += stage.get(key, "/api/crypto/symbols").status_code == 200
            time.sleep(0.2)
    finally:
        stage.postgres.thaw()
    used = stage.wait_for(key_id, lambda now: now["requests"] >= answered)
    assert used["requests"] == answered
    assert used["refused"] == 0


def test_killed_worker_keeps_what_it_rolled_up(tmp_path: Any) -> None:
    """A worker that stops rolls up first; a killed one loses its last seconds only."""
    with running_stage(tmp_path / "plans.toml") as stage:
        key_id, key = stage.keys.make()
        for _ in range(20):
            stage.get(key, "/api/crypto/symbols")
        assert stage.wait_for(key_id, lambda now: now["requests"] == 20)["requests"] == 20
        first, second = stage.service.processes[1:]
        first.kill()
        first.wait()
        assert stage.used(key_id)["requests"] == 20
        for _ in range(5):
            assert stage.get(key, "/api/crypto/symbols").status_code == 200
        stop(second)
        assert stage.used(key_id)["requests"] == 25


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(scaled(30)) == 0
