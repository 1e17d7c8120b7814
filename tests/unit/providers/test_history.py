"""A recorded feed as the upstream of an installation."""

import time
from contextlib import aclosing
from pathlib import Path

import pytest

from quotecast.errors import SettingsError, UpstreamError
from quotecast.history.playback import Playback
from quotecast.history.segments import HistoryError
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from quotecast.providers.history.client import RecordedProvider
from quotecast.settings import loading
from support.made.history import Clock, RecordedLeader
from support.made.market import stock

BEGIN = float(int(time.time()) - 3600)


class Time:
    """A clock that only the provider's sleeps move."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedLeader:
    """Records five seconds, with a removal and a new epoch."""
    leader = RecordedLeader(tmp_path, clock=Clock(BEGIN))
    leader.begin("e0", [stock("AAPL", 1.0), stock("OLD", 1.0)])
    for number in range(2, 5):
        leader.clock.now += 1
        leader.publish([stock("AAPL", float(number))], ["OLD"] if number == 3 else [])
    leader.begin("e1", [stock("AAPL", 9.0), stock("NEW", 1.0)])
    leader.clock.now += 1
    leader.publish([stock("AAPL", 10.0)])
    leader.stop()
    return leader


async def play(
    folder: Path, seconds: float, *, at: float | None = None, speed: float = 1.0, loop: bool = False
) -> list[tuple[float, Update]]:
    """Returns the updates of some seconds, with the time of each."""
    clock = Time()
    provider = RecordedProvider(
        folder, Feed.STOCKS, at=at, speed=speed, loop=loop, clock=lambda: clock.now, sleep=clock.sleep
    )
    played: list[tuple[float, Update]] = []
    async with aclosing(provider.updates()) as updates:
        async for update in updates:
            if clock.now > seconds:
                return played
            played.append((clock.now, update))
    return played


def prices(updates: list[tuple[float, Update]]) -> list[float]:
    return [quote.price for _, update in updates for quote in update.quotes if quote.key == "AAPL"]


async def test_a_recorded_feed_is_published_again_at_its_pace(
    recorded: RecordedLeader, tmp_path: Path
) -> None:
    """The state first, then the changes when they are due, and signs of life after the end."""
    played = await play(tmp_path, 8.5)
    assert prices(played) == [1.0, 2.0, 3.0, 9.0, 10.0]
    assert played[0][1].complete
    times = [at for at, update in played if update.quotes]
    assert times == pytest.approx([0, 1, 2, 3, 4], abs=0.03)
    assert [[*update.removed] for _, update in played if update.removed] == [["OLD"]]
    assert played[-1][1] == Update([], [])
    ledger = Ledger(Feed.STOCKS)
    for at, update in played:
        ledger.take(update, BEGIN + at)
    quotes: list[Quote | None] = [
        entry.quote for entry in ledger.begin("e", recorded.state().info).entries.values()
    ]
    assert quotes == [stock("AAPL", 10.0), stock("NEW", 1.0)]


@pytest.mark.usefixtures("recorded")
async def test_it_begins_where_the_settings_say_and_faster(tmp_path: Path) -> None:
    played = await play(tmp_path, 1.0, at=BEGIN + 2.5, speed=10.0)
    assert prices(played) == [3.0, 9.0, 10.0]
    assert [at for at, update in played if update.quotes] == pytest.approx([0, 0.05, 0.15], abs=0.03)


@pytest.mark.usefixtures("recorded")
async def test_a_loop_starts_over(tmp_path: Path) -> None:
    """With the whole state, which replaces the last one."""
    played = await play(tmp_path, 6.0, loop=True)
    complete = [update for _, update in played if update.complete]
    assert len(complete) >= 3


async def test_without_a_recording_the_upstream_fails_and_is_tried_again(tmp_path: Path) -> None:
    """As any upstream that is away."""
    with pytest.raises(UpstreamError, match="nothing is recorded"):
        await play(tmp_path, 1.0)


@pytest.mark.usefixtures("recorded")
async def test_a_segment_that_cannot_be_read_is_an_upstream_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise HistoryError("an open segment cannot be read: Input/output error")

    monkeypatch.setattr(Playback, "read", fail)
    with pytest.raises(UpstreamError, match="cannot be played: an open segment"):
        await play(tmp_path, 1.0)


def test_the_settings_need_segments_and_a_moment(tmp_path: Path) -> None:
    """The start stops, and names the variables."""
    environment = {
        "QUOTECAST_STOCKS": "history",
        "QUOTECAST_HISTORY_FOLDER": str(tmp_path),
        "QUOTECAST_HISTORY_AT": "noon",
    }
    with pytest.raises(SettingsError) as refusal:
        loading.load(environment)
    assert "QUOTECAST_HISTORY_FOLDER: " in str(refusal.value)
    assert "QUOTECAST_HISTORY_AT: Must be ISO 8601" in str(refusal.value)
