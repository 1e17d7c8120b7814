"""Reports of processes on a real Valkey."""

from typing import Any

import pytest
import redis

from quotecast.operators.reports.store import EXPIRY_SECONDS, MAX_LENGTH, MAX_PROCESSES, ReportStore
from support.made.reports import report

pytestmark = pytest.mark.usefixtures("patient_redis")

PREFIX = "reported"
NAME = f"{PREFIX}:{{reports}}"
LONG = b'"' + b"x" * MAX_LENGTH + b'"'
DEEP = b'{"x":' + b"[" * (MAX_LENGTH - 10)


@pytest.fixture
def client(redis_url: str) -> Any:
    return redis.Redis.from_url(redis_url, protocol=2)


async def ids(url: str) -> list[str]:
    async with ReportStore(url, PREFIX) as store:
        return [each.id for each in await store.all()]


async def test_reports_are_those_of_running_processes(redis_url: str, client: Any) -> None:
    """A newer report replaces the last one, and all expire without one."""
    async with ReportStore(redis_url, PREFIX) as store:
        assert await store.all() == []
        await store.put(report("1-a", sockets=1))
        await store.put(report("2-b"))
        await store.put(report("1-a", sockets=2))
        first, second = await store.all()
        assert (first.worker and first.worker.sockets, second.id) == (2, "2-b")
        assert 0 < client.ttl(f"{NAME}:1-a") <= EXPIRY_SECONDS
        client.delete(f"{NAME}:1-a")
        assert await ids(redis_url) == ["2-b"]
        assert client.smembers(NAME) == {b"2-b"}
        await store.remove("2-b")
        assert client.keys(f"{PREFIX}*") == []


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b'{"id":1}', b"\xff", LONG, DEEP])
async def test_forged_report_is_passed_over(redis_url: str, client: Any, value: bytes) -> None:
    """Whatever somebody wrote there, the others are shown."""
    async with ReportStore(redis_url, PREFIX) as store:
        await store.put(report("1-a"))
    client.set(f"{NAME}:0-x", value)
    client.sadd(NAME, "0-x", b"\xff\xfe")
    assert await ids(redis_url) == ["1-a"]


async def test_number_of_reports_is_bounded(redis_url: str, client: Any) -> None:
    """A flood of invented processes costs one bounded read."""
    body = b'{"id":"x","kind":"api","host":"","pid":1,"version":"","started_at":0,"at":0}'
    names = [f"{number:05}" for number in range(MAX_PROCESSES + 50)]
    client.mset({f"{NAME}:{name}": body for name in names})
    client.sadd(NAME, *names)
    assert len(await ids(redis_url)) == MAX_PROCESSES


async def test_long_report_is_not_written(redis_url: str, client: Any) -> None:
    """A report that no reader would take stays where it is made."""
    async with ReportStore(redis_url, PREFIX) as store:
        await store.put(report("1-a", handshakes_refused={"x" * MAX_LENGTH: 1}))
    assert client.keys(f"{PREFIX}*") == []
