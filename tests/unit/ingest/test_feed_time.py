"""The time of a feed."""

from msgspec.structs import replace

from quotecast.ingest.publish import FeedTime
from quotecast.providers.base import Update
from support.made.market import stock
from support.stages.following import ScriptedProvider

#: 2026-11-20T15:00:00Z, the timestamp of `stock()`.
NOON = 1_795_186_800.0


class Simulated(ScriptedProvider):
    simulated = True


class Delayed(ScriptedProvider):
    delay_seconds = 900.0


def test_live_feed_is_behind_the_clock_by_its_delay() -> None:
    assert FeedTime(ScriptedProvider(), lambda: NOON).now() == NOON
    assert FeedTime(Delayed(), lambda: NOON).now() == NOON - 900


def test_time_never_falls() -> None:
    clock = [NOON]
    time = FeedTime(ScriptedProvider(), lambda: clock[0])
    time.now()
    clock[0] -= 5
    assert time.now() == NOON


def test_simulated_feed_has_the_time_of_its_newest_quote() -> None:
    """It goes on with the clock, and does not go back with a recording that starts over."""
    clock = [2 * NOON]
    time = FeedTime(Simulated(), lambda: clock[0])
    assert time.now() == 0
    time.hear(Update())
    assert time.now() == 0
    time.hear(Update([stock(), replace(stock("OLD"), timestamp="2026-11-20T14:00:00.000Z")]))
    assert time.now() == NOON
    clock[0] += 3
    assert time.now() == NOON + 3
    time.hear(Update([replace(stock(), timestamp="2026-11-20T13:00:00.000Z")]))
    assert time.now() == NOON + 3
    time.hear(Update([replace(stock(), timestamp="2026-11-20T15:10:00.000Z")]))
    assert time.now() == NOON + 600


def test_a_recording_slower_than_the_clock_does_not_lose_its_bars() -> None:
    """A time ahead of all quotes would make every update late."""
    clock = [2 * NOON]
    time = FeedTime(Simulated(), lambda: clock[0])
    for second in range(600):
        clock[0] = 2 * NOON + 2 * second
        heard = f"2026-11-20T15:{second // 60:02}:{second % 60:02}.000Z"
        time.hear(Update([replace(stock(), timestamp=heard)]))
        assert NOON + second <= time.now() <= NOON + second + 2
