"""The limits of an edge without a Redis."""

from quotecast.limits.alone import WindowAlone


async def test_a_worker_alone_admits_the_whole_limit() -> None:
    """A worker alone counts by itself, frees slots that were given back, and says that it is alone."""
    window = WindowAlone()
    assert [window.decide("a", 2).admitted for _ in range(3)] == [True, True, False]
    assert window.decide("b", 2).admitted
    await window.give_back("a")
    assert window.decide("a", 2).admitted
    statistics = window.statistics()
    assert (statistics.alone, statistics.checks, statistics.calls) == (True, 5, 0)
