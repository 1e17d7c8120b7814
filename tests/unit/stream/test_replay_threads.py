"""The end of a replay whose thread reads at this moment."""

import asyncio
import inspect
import threading
import time
from pathlib import Path

from quotecast.history.folder import Folder
from quotecast.history.playback import Playback, ReaderThreads
from quotecast.market.feeds import Feed
from quotecast.stream.hubs import hub_of
from quotecast.stream.replay import Player, playing
from support.made.history import Clock, RecordedLeader
from support.made.market import stock


async def test_a_client_may_leave_while_the_thread_of_its_replay_reads(tmp_path: Path) -> None:
    """The segment is closed after the read, and nothing is raised."""
    begin = float(int(time.time()) - 3600)
    leader = RecordedLeader(tmp_path, clock=Clock(begin))
    leader.begin("e0", [stock("AAPL", 100.0)])
    leader.stop()
    reads, go_on = threading.Event(), threading.Event()
    player = await Player.open(
        lambda: Playback(Folder(tmp_path), Feed.STOCKS, begin), begin, 1.0, ReaderThreads(1)
    )
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
    assert inspect.getgeneratorstate(player._playback._messages) == inspect.GEN_CLOSED
