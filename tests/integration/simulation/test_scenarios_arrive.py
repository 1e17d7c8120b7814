"""What a client of a vendor receives under each scenario of delivery, on a clock that only the test moves."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import httpx
import msgspec
import pytest

from quotecast.simulation.vendors.server import TICK_MS
from support.servers.simulated_session import DIALOGUES, START, Session, serving

SECOND = 1000 // TICK_MS


@contextlib.asynccontextmanager
async def _session(*scenarios: str, rate: float = 50.0) -> AsyncIterator[Session]:
    async with serving("tiny", *scenarios, rate=rate) as server:
        session = Session(server, DIALOGUES["tiny"])
        yield session
        await session.close()


async def _rows(session: Session, seconds: float) -> list[dict[str, Any]]:
    """Returns the prices that arrive in the next seconds, as the vendor wrote them."""
    already = len(session.lines)
    for _ in range(round(seconds * SECOND)):
        await session.tick()
    decoded = [msgspec.json.decode(line) for line in session.lines[already:] if line.startswith(b"{")]
    return [row for row in decoded if "price" in row]


def _times(rows: Sequence[dict[str, Any]], symbol: str) -> list[int]:
    return [row["time"] for row in rows if row["symbol"] == symbol]


def _goes_back(times: Sequence[int]) -> bool:
    return any(later < earlier for earlier, later in pairwise(times))


async def test_without_a_scenario_prices_come_at_the_rate_and_in_order() -> None:
    async with _session() as session:
        rows = await _rows(session, 4)
    assert len(rows) == pytest.approx(200, abs=10)
    assert not _goes_back([row["time"] for row in rows])
    assert len({(row["symbol"], row["time"]) for row in rows}) == len(rows)


async def test_a_burst_brings_twenty_times_as_many() -> None:
    async with _session("open-burst@+2,seconds=2") as session:
        # The tick at the second second is the burst's first.
        before, burst, after = [len(await _rows(session, seconds)) for seconds in (1.98, 2, 2)]
    assert burst == pytest.approx(20 * before, rel=0.1)
    # What the burst left over arrives after it, for a quarter of a second at most.
    assert after < before * 6


async def test_bad_ticks_arrive_on_the_wire() -> None:
    async with _session("bad-tick,every=4", rate=500.0) as session:
        rows = await _rows(session, 4)
    kinds = Counter(
        name
        for row in rows
        for name, is_bad in {
            "zero": row["price"] == 0,
            # JSON has no NaN: this vendor sends null, others send text.
            "nan": row["price"] is None,
            "hundredfold": bool(row["price"]) and row["price"] > row["high"] * 50,
            "crossed": row["bid"] > row["ask"],
            "future": row["time"] > START + 3_000_000,
        }.items()
        if is_bad
    )
    assert kinds.keys() == {"zero", "nan", "hundredfold", "crossed", "future"}
    assert kinds.total() == pytest.approx(len(rows) / 4, rel=0.2)


async def test_a_frozen_stream_is_connected_and_silent() -> None:
    async with _session("frozen@+2,seconds=3") as session:
        before = await _rows(session, 1.98)
        lines = len(session.lines)
        frozen = await _rows(session, 3)
        assert session.lines[lines:] == []
        after = await _rows(session, 2)
    assert before
    assert not frozen
    assert after
    assert b"connection lost" not in session.lines


async def test_single_instruments_freeze() -> None:
    async with _session("frozen,seconds=2,symbols=AAPL") as session:
        rows = await _rows(session, 1.9)
    assert not _times(rows, "AAPL")
    assert _times(rows, "BTC/USDT")


async def test_connections_drop_every_n_seconds() -> None:
    async with _session("drop,every=2") as session:
        rows = await _rows(session, 7)
    assert session.lines.count(b"connection lost") == 3
    assert session.lines.count(b'{"hello":true}') == 4
    assert max(row["time"] for row in rows) > START + 6_500


async def test_slow_messages_arrive_late_and_in_order() -> None:
    async with _session("slow,by=800,jitter=600,seconds=5") as session:
        nothing = await _rows(session, 0.7)
        rows = await _rows(session, 2)
        late = START + 2_700 - max(row["time"] for row in rows)
        rest = await _rows(session, 5)
    assert not nothing
    assert 800 <= late <= 1400 + TICK_MS
    assert not _goes_back([row["time"] for row in [*rows, *rest]])
    assert rest[-1]["time"] > START + 7_500


async def test_duplicates_arrive() -> None:
    async with _session("duplicate,every=3") as session:
        rows = await _rows(session, 6)
    copies = Counter((row["symbol"], row["time"]) for row in rows)
    assert set(copies.values()) == {1, 2}
    assert sum(count == 2 for count in copies.values()) / len(copies) == pytest.approx(1 / 3, abs=0.12)


async def test_newer_messages_overtake() -> None:
    async with _session("out-of-order,every=5") as session:
        rows = await _rows(session, 6)
    assert _goes_back(_times(rows, "AAPL"))
    assert len({(row["symbol"], row["time"]) for row in rows}) == len(rows)


@pytest.mark.parametrize(("name", "status"), [("maintenance", 503), ("rate-limited", 429)])
async def test_refusals_of_requests_and_handshakes(name: str, status: int) -> None:
    async with _session(f"{name}@+2,seconds=2", "drop@+2,every=1,seconds=1.5") as session:
        await _rows(session, 2.5)
        async with httpx.AsyncClient() as client:
            answer = await client.get(session.url)
        await _rows(session, 0.7)
        assert b"connection lost" in session.lines
        assert f'refused {status} {{"error":"{name}"}}'.encode() in session.lines
        assert await _rows(session, 2)
    assert (answer.status_code, answer.json()) == (status, {"error": name})


async def test_the_end_of_all_scenarios_releases_delayed_messages_in_order() -> None:
    async with _session("slow,by=60000,jitter=0") as session:
        assert not await _rows(session, 3)
        session.server.end_scenarios()
        rows = await _rows(session, 1)
    assert rows[0]["time"] == START + TICK_MS
    assert not _goes_back([row["time"] for row in rows])
