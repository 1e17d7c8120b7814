"""Threads of replays: how many open at once, and the end of a replay whose thread reads."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from quotecast.history.folder import Folder
from quotecast.history.playback import Playback
from quotecast.market.feeds import Feed
from quotecast.stream.hubs import hub_of
from quotecast.stream.player import Player
from quotecast.stream.queries import Replay
from quotecast.stream.replay import MAX_OPENING, Replays, playing
from support.history_made import Clock, RecordedLeader
from support.market_made import stock


async def test_a_client_may_leave_while_the_thread_of_its_replay_reads(tmp_path: Path) -> None:
    """The segment is closed after the read, and nothing is raised."""
    begin = float(int(time.time()) - 3600)
    leader = RecordedLeader(tmp_path, clock=Clock(begin))
    leader.begin("e0", [stock("AAPL", 100.0)])
    leader.stop()
    reads, go_on = threading.Event(), threading.Event()
    player = await Player.open(lambda: Playback(Folder(tmp_path), Feed.STOCKS, begin), begin, 1.0)
    names_after = player._playback._name_after

    def slowly(name: str) -> str:
        reads.set()
        go_on.wait(10)
        return names_after(name)

    player._playback._name_after = slowly  # type: ignore[method-assign]
    hub = hub_of(player.mirror, 15_000)

    async def end() -> None:
        """Does nothing."""

    async with playing(player, hub, end):
        await asyncio.to_thread(reads.wait, 10)
        asyncio.get_running_loop().call_later(0.05, go_on.set)
    assert next(player._playback._messages, None) is None


async def test_few_replays_open_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty threads that decode would delay the frames of all live clients."""
    begin = float(int(time.time()) - 3600)
    leader = RecordedLeader(tmp_path, clock=Clock(begin))
    leader.begin("e0", [stock("AAPL", 100.0)])
    leader.stop()
    opening, most = 0, 0
    open_player = Player.open

    async def counting(make: Callable[[], Playback], at: float, speed: float) -> Player:
        nonlocal opening, most
        opening += 1
        most = max(most, opening)
        player = await open_player(make, at, speed)
        opening -= 1
        return player

    monkeypatch.setattr(Player, "open", counting)
    replays = Replays(Folder(tmp_path), per_address=20, per_worker=20, heartbeat_ms=1000)
    asked = Replay(str(begin), None)
    opened = await asyncio.gather(*(replays.open(Feed.STOCKS, asked) for _ in range(6)))
    for player, _ in opened:
        await player.close()
    assert (len(opened), most) == (6, MAX_OPENING)
