"""Replays over real sockets: a recorded feed on the live protocol."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from quotecast.history.folder import Folder
from quotecast.market.codec import encode_json, iso_utc
from quotecast.market.feeds import Feed
from quotecast.stream.endpoint import Streams
from quotecast.stream.hubs import FeedHubs, hub_of
from quotecast.stream.replay import Replays
from quotecast.stream.server import serve_feeds
from support.clients.merging_client import MergingClient
from support.made.factories import full_mirrors
from support.made.history import Clock, RecordedLeader, batches
from support.made.market import pair, stock, wire_epoch
from support.runs.deadlines import scaled
from support.runs.waits import until_answered

PATIENCE_SECONDS = 15.0
#: Recorded seconds; the recording ended a while ago.
RECORDED = 40


class Running:
    """A worker's feeds, a recording, and what was published at each of its seconds."""

    def __init__(self, port: int, begin: float, streams: Streams) -> None:
        self.begin = begin
        self.streams = streams
        self.url = f"ws://127.0.0.1:{port}"

    def connect(self, at: object, query: str = "speed=100", **more: Any) -> connect:
        url = f"{self.url}/api/ws/market?symbols=all&interval=100&at={at}&{query}"
        return connect(url, max_size=None, **more)


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    begin = float(int(time.time()) - 3600)
    leader = RecordedLeader(tmp_path, clock=Clock(begin))
    leader.begin("e0", [stock("AAPL", 100.0), stock("OLD", 1.0)])
    for number in range(1, RECORDED + 1):
        leader.clock.now += 1
        leader.publish([stock("AAPL", 100.0 + number)], ["OLD"] if number == 30 else [])
    leader.stop()
    hubs = {feed: hub_of(mirror, 15_000) for feed, mirror in full_mirrors().items()}
    streams = Streams(
        _nothing,
        FeedHubs(hubs),
        heartbeat_ms=100,
        sockets_per_address=0,
        address_of=lambda scope: scope["client"][0],
        replays=Replays(Folder(tmp_path), per_address=2, per_worker=3, heartbeat_ms=100),
    )
    async with serve_feeds(streams, "127.0.0.1", 0) as port:
        yield Running(port, begin, streams)


async def _nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """Fails: these tests send no HTTP."""


async def frames_of(client: ClientConnection) -> list[dict[str, Any]]:
    """Returns all frames up to the close."""
    frames = []
    async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
        with contextlib.suppress(ConnectionClosed):
            while True:
                frames.append(json.loads(await client.recv()))
    return frames


async def test_a_replay_begins_with_the_state_of_the_moment_and_plays_to_the_end(running: Running) -> None:
    """Welcome and heartbeats say that it is replayed, and which moment it has reached."""
    at = running.begin + 10.5
    async with running.connect(iso_utc(at)) as client:
        frames = await frames_of(client)
    welcome, _, snapshot, *others = frames
    assert (welcome["type"], welcome["replayed"], welcome["at"]) == ("welcome", True, iso_utc(at))
    assert {item["ticker"]: item["price"] for item in snapshot["data"]} == {"AAPL": 110.0, "OLD": 1.0}
    prices = [item["price"] for frame in others if frame["type"] == "update" for item in frame["data"]]
    assert prices == sorted(prices)
    assert prices[-1] == 140.0
    assert [frame["removed"] for frame in others if "removed" in frame] == [["OLD"]]
    beats = [frame for frame in others if frame["type"] == "heartbeat"]
    assert all(beat["replayed"] is True and beat["at"] >= iso_utc(at) for beat in beats)
    assert client.close_code == 4410


async def test_reports_of_slow_clients_have_the_address_of_a_replay(running: Running) -> None:
    async with running.connect(iso_utc(running.begin + 1.5), "speed=1") as client:
        await client.recv()
        assert [each.address for each in running.streams.clients] == ["127.0.0.1"]


@pytest.mark.parametrize("subprotocol", ["quotecast.v1.json", "quotecast.v1.rows", "quotecast.v1.msgpack"])
async def test_what_is_replayed_equals_what_was_published(running: Running, subprotocol: str) -> None:
    """In every notation, with the epoch and the seq of then."""
    merged = MergingClient("ticker", subprotocol)
    async with running.connect(running.begin, subprotocols=[Subprotocol(subprotocol)]) as client:
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            with contextlib.suppress(ConnectionClosed):
                while True:
                    merged.take(await client.recv())
    assert merged.quotes == {"AAPL": json.loads(encode_json(stock("AAPL", 140.0)))}
    assert (merged.epoch, merged.seq) == (wire_epoch("e0"), RECORDED + 1)


async def test_replayed_bars_equal_those_that_were_published(running: Running, tmp_path: Path) -> None:
    """Final ones exactly once, in order of time."""
    begin = running.begin - running.begin % 60
    leader = RecordedLeader(tmp_path, Feed.CRYPTO, Clock(begin))
    leader.begin("e0", [pair("BTC/USDT", 1.0)])
    for number in range(90):
        leader.clock.now += 3
        quote = structs.replace(pair("BTC/USDT", 2.0 + number), timestamp=iso_utc(leader.clock.now))
        leader.publish([quote])
    leader.stop()
    async with connect(
        f"{running.url}/api/ws/crypto?symbols=all&interval=100&bars=1m&at={begin}&speed=100"
    ) as client:
        frames = await frames_of(client)
    replayed = [
        (bar["time"], bar["open"], bar["high"], bar["low"], bar["close"], bar["updates"])
        for frame in frames
        if frame["type"] == "bars"
        for bar in frame["data"]
        if bar["final"]
    ]
    published = [
        (iso_utc(bar.opened), bar.open, bar.high, bar.low, bar.close, bar.updates)
        for batch in batches(leader.published)
        for closing in batch.closings
        for bar in closing.bars.get("1m", {}).values()
    ]
    assert len(published) == 4
    assert [(at[:19], *values) for at, *values in replayed] == [
        (at[:19], *values) for at, *values in published
    ]


@pytest.mark.parametrize(
    ("at", "query", "detail"),
    [
        ("soon", "", "at: Must be ISO 8601"),
        ("4000000000", "", "at: This moment is in the future; the history of market has from"),
        ("1000000000", "", "at: Nothing is recorded of this moment; the history of market has from"),
        ("now", "speed=0.05", "speed: Must be a number from 0.1 to 100"),
        ("now", "speed=101", "speed: Must be a number from 0.1 to 100"),
        ("now", "speed=nan", "speed: Must be a number from 0.1 to 100"),
        ("now", "speed=fast", "speed: Must be a number from 0.1 to 100"),
    ],
)
async def test_what_cannot_be_replayed_gets_a_coded_frame_that_says_what_can(
    running: Running, at: str, query: str, detail: str
) -> None:
    """The close code says that another try does not help."""
    moment = running.begin if at == "now" else at
    async with running.connect(moment, query) as client:
        (frame,) = await frames_of(client)
    assert (frame["type"], frame["code"]) == ("error", 422)
    assert frame["detail"].startswith(detail)
    assert client.close_code == 4422


async def test_a_replay_is_of_one_feed(running: Running) -> None:
    """The socket of all feeds names the paths."""
    async with connect(f"{running.url}/api/ws?market=all&at={running.begin}") as client:
        (frame,) = await frames_of(client)
    assert "A replay is of one feed" in frame["detail"]


async def replay_or_none(running: Running, query: str) -> ClientConnection | None:
    """Returns a replay from the first moment; None if the server has no place for it."""
    try:
        return await running.connect(running.begin, query)
    except InvalidStatus:
        return None


async def test_replays_are_bounded_per_address_and_a_place_is_free_again(running: Running) -> None:
    """The third is refused at its handshake, with a sentence; live feeds are not affected."""
    slow = "speed=0.1"
    async with running.connect(running.begin, slow) as first, running.connect(running.begin, slow):
        with pytest.raises(InvalidStatus) as refusal:
            await running.connect(running.begin, slow)
        assert refusal.value.response.status_code == 503
        assert b"replays" in (refusal.value.response.body or b"")
        async with connect(f"{running.url}/api/ws/market?symbols=all") as live:
            assert "replayed" not in json.loads(await live.recv())
        await first.close()
        # The place is free when the task of the closed socket has ended, which the server tells nobody.
        third = await until_answered(lambda: replay_or_none(running, slow))
        assert json.loads(await third.recv())["replayed"] is True
        await third.close()


async def test_commands_work_in_a_replay(running: Running) -> None:
    """It is the live protocol."""
    async with running.connect(running.begin + 5, "speed=0.1") as client:
        await client.send('{"action":"unsubscribe","symbols":["OLD"],"id":1}')
        await client.send('{"action":"ping","id":2}')
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            while json.loads(await client.recv())["type"] != "pong":
                pass
