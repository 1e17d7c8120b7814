"""A replay's pace, on a clock that the test moves."""

from pathlib import Path

import pytest

from quotecast.errors import QuotecastError
from quotecast.feed.mirror import Mirror
from quotecast.feed.past import mirror_at
from quotecast.history.folder import Folder
from quotecast.history.playback import COVERED_SECONDS, Playback, ReaderThreads
from quotecast.market.feeds import Feed
from quotecast.stream import replay as replays
from quotecast.stream.replay import Player, Replays
from support.made.history import BEGIN, Clock, RecordedLeader
from support.made.market import stock


@pytest.fixture
def leader(tmp_path: Path) -> RecordedLeader:
    """Records a minute, and ten minutes later another one."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    move(leader, 60)
    leader.stop()
    after = RecordedLeader(tmp_path, clock=Clock(BEGIN + 660))
    after.begin("e1", [stock("AAPL", 100.0)])
    move(after, 60)
    after.stop()
    return after


def move(leader: RecordedLeader, seconds: int) -> None:
    for _ in range(seconds):
        leader.clock.now += 1
        leader.publish([stock("AAPL", leader.clock.now - BEGIN)])


class Replay:
    """A player and its clocks; the present is an hour after the recording."""

    def __init__(self, folder: Path, at: float, speed: float, now: float = BEGIN + 4000) -> None:
        self.clock = Clock(0.0)
        playback = Playback(Folder(folder), Feed.STOCKS, at, clock=lambda: now)
        self.mirror: Mirror = mirror_at(playback, at)
        self.player = Player(
            playback,
            self.mirror,
            at,
            speed,
            ReaderThreads(1),
            clock=self.clock,
            present=lambda: now + self.clock.now,
        )

    async def after(self, seconds: float) -> float:
        """Moves on; returns the price then."""
        self.clock.now += seconds
        self.over = await self.player.step()
        quote = self.mirror.quotes()["AAPL"]
        return quote.price


@pytest.mark.usefixtures("leader")
@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0])
async def test_a_replay_has_the_state_of_each_moment_at_its_speed(tmp_path: Path, speed: float) -> None:
    """The moment that it has reached is exact."""
    replay = Replay(tmp_path, BEGIN + 10.5, speed)
    for second in range(11, 50):
        assert await replay.after(1 / speed) == second
        assert replay.mirror.replayed_at == pytest.approx(BEGIN + second + 0.5)
        assert replay.mirror.state(replay.clock.now) == "live"
        assert not replay.over


@pytest.mark.usefixtures("leader")
async def test_in_a_gap_the_feed_is_stale_and_after_it_the_replay_goes_on(tmp_path: Path) -> None:
    """As clients saw an ingest that was away."""
    replay = Replay(tmp_path, BEGIN + 50, 1.0)
    assert await replay.after(10) == 60
    for _ in range(int(COVERED_SECONDS) + 5):
        await replay.after(1)
    assert replay.mirror.state(replay.clock.now) == "stale"
    assert await replay.after(600) == 680
    assert replay.mirror.state(replay.clock.now) == "live"


@pytest.mark.usefixtures("leader")
async def test_a_replay_that_cannot_keep_up_becomes_slower_and_skips_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is bounded, so live clients get their turn."""
    monkeypatch.setattr(replays, "STEP_MESSAGES", 3)
    replay = Replay(tmp_path, BEGIN, 100.0)
    assert [await replay.after(1) for _ in range(4)] == [4, 7, 10, 13]


@pytest.mark.usefixtures("leader")
async def test_a_replay_ends_where_the_recording_does(tmp_path: Path) -> None:
    """After the time for which the last record holds."""
    replay = Replay(tmp_path, BEGIN + 700, 1.0)
    assert await replay.after(20) == 720
    assert not replay.over
    await replay.after(COVERED_SECONDS + 1)
    assert replay.over


@pytest.mark.usefixtures("leader")
async def test_a_replay_ends_in_the_present(tmp_path: Path) -> None:
    """It cannot be ahead of it."""
    replay = Replay(tmp_path, BEGIN + 700, 2.0, now=BEGIN + 710)
    assert await replay.after(9) == 718
    assert not replay.over
    await replay.after(1)
    assert replay.over


@pytest.mark.usefixtures("leader")
async def test_a_fast_replay_does_not_step_over_its_present(tmp_path: Path) -> None:
    """The present of a delayed client is late: what is recorded behind it stays hidden."""
    replay = Replay(tmp_path, BEGIN + 700, 100.0, now=BEGIN + 710)
    assert await replay.after(1) == 711
    assert replay.over


def test_replays_are_bounded_per_worker() -> None:
    """Over all addresses."""
    replays = Replays(None, per_address=2, per_worker=3, heartbeat_ms=1)
    assert [replays.take_place(address) for address in "aaabbc"] == [True, True, False, True, False, False]
    replays.leave("a")
    assert replays.take_place("c")


async def test_a_damaged_segment_is_an_error_with_a_code(tmp_path: Path) -> None:
    """Not a failure of the worker."""
    name = "20261120T143000.000Z-0badcafe"
    (tmp_path / "stocks").mkdir()
    (tmp_path / "stocks" / f"{name}.segment").write_bytes(b"\xf1qcB" * 1000)
    with pytest.raises(QuotecastError, match="Nothing is recorded"):
        Replay(tmp_path, BEGIN + 1, 1.0)
