"""A feed of thousands of symbols: costly answers are shared for a moment, and large bodies are made apart."""

import asyncio
import gzip

import httpx
import pytest
import zstandard

from quotecast.api.answers import lasting
from quotecast.api.answers.answers import APART_FROM
from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.made.factories import EPOCH, client_of, full_mirrors, services, snapshot_of
from support.made.market import stock, wire_epoch

ALL = "/api/market/quotes?symbols=all"
COUNT = lasting.LARGE


def move(mirror: Mirror, price: float, seq: int) -> None:
    change = encode_change(stock("S0", price))
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=[change]))


def large() -> dict[Feed, Mirror]:
    mirrors = full_mirrors()
    mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, [stock(f"S{n}") for n in range(COUNT)], seq=8))
    return mirrors


async def price_and_tag(client: httpx.AsyncClient, path: str) -> tuple[float, str]:
    answer = await client.get(path, headers={"accept-encoding": "identity"})
    return answer.json()["S0"]["price"], answer.headers["etag"]


async def test_costly_answer_is_shared_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers get the same quotes, with the tag of their seq, until ten times the time that writing took."""
    steps = iter([0.0, 0.05])
    monkeypatch.setattr(lasting, "perf_counter", lambda: next(steps, 0.05))
    mirrors, now = large(), [1000.0]
    async with client_of(services(mirrors, monotonic=lambda: now[0])) as client:
        assert await price_and_tag(client, ALL) == (100.0, f'W/"{wire_epoch()}-8"')
        move(mirrors[Feed.STOCKS], 5.0, 9)
        now[0] += 0.4
        assert await price_and_tag(client, ALL) == (100.0, f'W/"{wire_epoch()}-8"')
        now[0] += 0.2
        assert await price_and_tag(client, ALL) == (5.0, f'W/"{wire_epoch()}-9"')


async def test_answer_of_another_epoch_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new epoch ends every copy: its numbers mean other quotes."""
    steps = iter([0.0, 0.05])
    monkeypatch.setattr(lasting, "perf_counter", lambda: next(steps, 0.05))
    mirrors = large()
    async with client_of(services(mirrors)) as client:
        await client.get(ALL)
        moved = [stock("S0", 5.0), *(stock(f"S{n}") for n in range(1, COUNT))]
        mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, moved, seq=3, epoch="another"))
        assert await price_and_tag(client, ALL) == (5.0, f'W/"{wire_epoch("another")}-3"')


async def test_answer_about_a_small_feed_is_always_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine does not make a small feed's answers older."""
    steps = iter([0.0, 0.05])
    monkeypatch.setattr(lasting, "perf_counter", lambda: next(steps, 0.05))
    mirrors = full_mirrors()
    mirrors[Feed.STOCKS].load(snapshot_of(Feed.STOCKS, [stock(f"S{n}") for n in range(9)], seq=8))
    async with client_of(services(mirrors)) as client:
        await client.get(ALL)
        move(mirrors[Feed.STOCKS], 5.0, 9)
        assert (await price_and_tag(client, ALL))[0] == 5.0


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
async def test_large_body_is_compressed_in_a_thread(monkeypatch: pytest.MonkeyPatch, coding: str) -> None:
    """The event loop serves others meanwhile; the bytes are those of any compressed answer."""
    threads: list[object] = []

    async def to_thread(function: object, *args: object) -> object:
        threads.append(function)
        return function(*args)  # type: ignore[operator]  # any callable

    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    async with client_of(services(large())) as client:
        plain = await client.get(ALL, headers={"accept-encoding": "identity"})
        assert (len(plain.content) > APART_FROM, threads) == (True, [])
        async with client.stream("GET", ALL, headers={"accept-encoding": coding}) as answer:
            packed = b"".join([part async for part in answer.aiter_raw()])
        await client.get(ALL, headers={"accept-encoding": coding})
    unpack = gzip.decompress if coding == "gzip" else zstandard.decompress
    assert unpack(packed) == plain.content
    assert len(threads) == 1


async def test_large_table_is_made_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[object] = []

    async def to_thread(function: object, *args: object) -> object:
        threads.append(function)
        return function(*args)  # type: ignore[operator]  # any callable

    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    async with client_of(services(large())) as client:
        table = await client.get(f"{ALL}&format=csv", headers={"accept-encoding": "identity"})
    assert len(table.text.splitlines()) == COUNT + 1
    assert len(threads) == 1
