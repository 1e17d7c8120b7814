"""A worker's memory of refusals."""

from quotecast.limits.window import Refusals


def test_a_refusal_is_remembered_until_its_end() -> None:
    """At its end a slot is free, so the worker must ask Redis again."""
    now = 100
    refusals = Refusals(clock=lambda: now)
    refusals.remember("a", 150)
    now = 149
    assert refusals.nanoseconds_left("a") == 1
    now = 150
    assert refusals.nanoseconds_left("a") == 0
    assert len(refusals) == 0


def test_an_unknown_key_is_not_refused() -> None:
    """Only keys that Redis refused are in memory."""
    assert Refusals(clock=lambda: 0).nanoseconds_left("a") == 0


def test_the_refusal_longest_remembered_makes_room() -> None:
    """A dropped refusal costs a call to Redis, never a wrong decision."""
    refusals = Refusals(max_keys=2, clock=lambda: 0)
    for key in ("a", "b", "a", "c"):
        refusals.remember(key, 10)
    assert [refusals.nanoseconds_left(key) for key in ("a", "b", "c")] == [10, 0, 10]
