"""Quotes of a recorded moment: `at` on the routes of quotes."""

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from quotecast.api.market import past
from quotecast.api.market.past import Past
from quotecast.api.views.delayed import DelayedMarket, delayed_services
from quotecast.errors import Busy
from quotecast.feed.documents import Documents
from quotecast.history.folder import Folder
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from support.made.factories import DOVIZ, client_of, full_mirrors, services
from support.made.history import Clock, RecordedLeader
from support.made.market import pair, stock

BEGIN = float(int(time.time()) - 3600)


@pytest.fixture
async def api(tmp_path: Path) -> Any:
    """Serves all feeds live, with a recording of an hour ago."""
    for feed, quotes in (
        (Feed.STOCKS, [stock("AAPL", 1.0), stock("OLD", 1.0)]),
        (Feed.CRYPTO, [pair("BTC/USDT", 1.0)]),
        (Feed.DOVIZ, DOVIZ),
    ):
        leader = RecordedLeader(tmp_path, feed, Clock(BEGIN))
        leader.begin("e0", quotes)
        leader.clock.now += 5
        leader.publish([stock("AAPL", 2.0)] if feed is Feed.STOCKS else [], [quotes[-1].key])
        leader.stop()
    async with client_of(services(full_mirrors(), past=Past(Folder(tmp_path)))) as http:
        yield http


async def test_a_moment_has_the_quotes_of_then(api: httpx.AsyncClient) -> None:
    """In both spellings of a moment; symbols that existed then are known."""
    before = await api.get(
        "/api/market/quotes", params={"symbols": "aapl,OLD,MSFT", "at": iso_utc(BEGIN + 4)}
    )
    assert (before.status_code, before.headers["x-missing-symbols"]) == (200, "MSFT")
    assert {key: quote["price"] for key, quote in before.json().items()} == {"AAPL": 1.0, "OLD": 1.0}
    after = await api.get("/api/market/quotes", params={"symbols": "all", "at": str(BEGIN + 5)})
    assert {key: quote["price"] for key, quote in after.json().items()} == {"AAPL": 2.0}
    live = await api.get("/api/market/quotes", params={"symbols": "all"})
    assert "MSFT" in live.json()


async def test_every_feed_has_a_past(api: httpx.AsyncClient) -> None:
    """With the other parameters of its route."""
    crypto = await api.get("/api/crypto/quotes", params={"at": str(BEGIN)})
    assert crypto.json()["BTC/USDT"]["price"] == 1.0
    doviz = await api.get("/api/doviz/quotes", params={"at": str(BEGIN), "category": "gold"})
    assert [*doviz.json()] == ["gram-altin"]


@pytest.mark.parametrize(
    "path", ["/api/market/quotes?symbols=all", "/api/crypto/quotes?", "/api/doviz/quotes?"]
)
@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("4000000000", "This moment is in the future; the history of"),
        ("1000000000", "Nothing is recorded of this moment; the history of"),
        ("noon", "Must be ISO 8601 with a time zone"),
        ("", "Must be ISO 8601 with a time zone"),
        ("2026-11-20T14:31:00", "Must be ISO 8601 with a time zone"),
    ],
)
async def test_a_moment_that_is_not_recorded_is_422_and_says_what_is(
    api: httpx.AsyncClient, path: str, at: str, message: str
) -> None:
    """With the earliest and the latest moment."""
    answer = await api.get(f"{path}&at={at}")
    assert answer.status_code == 422
    (problem,) = answer.json()["errors"]
    assert problem["field"] == "at"
    assert problem["message"].startswith(message)
    if "history" in message:
        assert f"has from {iso_utc(BEGIN)} to {iso_utc(BEGIN + 5)}" in problem["message"]


async def test_without_history_a_moment_is_422() -> None:
    """The message names the setting."""
    async with client_of(services(full_mirrors())) as http:
        answer = await http.get("/api/crypto/quotes?at=1000000000")
    assert answer.status_code == 422
    assert "QUOTECAST_HISTORY" in answer.text


async def test_reads_of_the_past_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond those that read and wait, the answer is 503: live requests have threads and time left."""
    monkeypatch.setattr(past, "MAX_WAITING", 3)
    held = Past(Folder(tmp_path))
    async with held._turn, held._turn:
        waiting = [asyncio.create_task(held.mirror(Feed.STOCKS, "1", 0.0)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await held.mirror(Feed.STOCKS, "1", 0.0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_delayed_view_has_no_moment_after_its_own_time(tmp_path: Path) -> None:
    """A moment between that time and the present is in the future there."""
    leader = RecordedLeader(tmp_path, Feed.STOCKS, Clock(BEGIN))
    leader.begin("e0", [stock("AAPL", 1.0)])
    for price in range(2, 40):
        leader.clock.now += 1
        leader.publish([stock("AAPL", float(price))], [])
    leader.stop()
    clock = Clock(BEGIN + 30)
    made = services(full_mirrors(), past=Past(Folder(tmp_path), clock=clock), clock=clock)
    view = delayed_services(made, DelayedMarket(full_mirrors(), Documents(), 20))
    async with client_of(view) as http:
        early = await http.get("/api/market/quotes", params={"symbols": "AAPL", "at": str(BEGIN + 9)})
        assert early.json()["AAPL"]["price"] == 10.0
        late = await http.get("/api/market/quotes", params={"symbols": "AAPL", "at": str(BEGIN + 11)})
        assert (late.status_code, late.json()["code"]) == (422, "not_recorded")
        # The end is the view's own, although newer moments are recorded.
        assert f"has from {iso_utc(BEGIN)} to {iso_utc(BEGIN + 10)}" in late.json()["errors"][0]["message"]
