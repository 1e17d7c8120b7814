"""What follows from what is known of a key, and what one worker remembers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.cache.base import Policy
from quotecast.cache.known import Entry, Failure, Known, decode, encode, newest
from quotecast.cache.recent import Recent
from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError

seconds = st.integers(0, 100)
policies = st.builds(Policy, fresh_seconds=seconds, stale_seconds=seconds, missing_seconds=seconds)
times = st.floats(0, 200)
outcomes = st.sampled_from(["answer", "not_found", "not_offered"])
entries = st.builds(Entry, times, outcomes, st.binary(), fresh_seconds=st.none() | seconds)
failures = st.builds(Failure, times, st.just("down"))
known = st.builds(Known, st.none() | entries, st.none() | failures, st.booleans())


@given(known, policies, times)
def test_nothing_is_served_past_its_time(known: Known, policy: Policy, now: float) -> None:
    """What is called fresh is; what is past both its times is an upstream that failed."""
    outlived = known.entry is None or known.entry.age(now) >= known.entry.lifetime(policy)
    assert known.serves(policy, now) is not outlived
    if known.entry is None or outlived:
        with pytest.raises(UpstreamError):
            known.answer(policy, now)
    elif known.entry.outcome != "answer":
        with pytest.raises((SymbolNotFound, NotOffered)):
            known.answer(policy, now)
    else:
        cached = known.answer(policy, now)
        assert (cached.body, cached.age_seconds) == (known.entry.body, known.entry.age(now))
        own = known.entry.fresh_seconds
        fresh = policy.fresh_seconds if own is None else min(own, policy.fresh_seconds)
        assert cached.fresh_seconds == max(0, fresh - cached.age_seconds)
        assert known.fetched or (cached.status == "STALE") is (cached.fresh_seconds == 0)


@given(known, policies, times)
def test_what_is_fresh_settles_and_what_is_old_does_not(known: Known, policy: Policy, now: float) -> None:
    """Unless the upstream is being left alone."""
    left_alone = known.failure is not None and now < known.failure.until
    fresh = known.entry is not None and known.entry.is_fresh(policy, now)
    assert known.settles(policy, now) is (fresh or left_alone)


@given(known, known)
def test_two_places_know_no_less_than_one(one: Known, other: Known) -> None:
    """Whoever is asked first."""
    together = newest(one, other)
    for known in (one, other):
        assert not known.entry or (together.entry and together.entry.stored_at >= known.entry.stored_at)
        assert not known.failure or (together.failure and together.failure.until >= known.failure.until)


@given(entries)
def test_an_entry_is_read_as_it_was_written(entry: Entry) -> None:
    assert decode(encode(entry), Entry) == entry


@pytest.mark.parametrize("sizes", [[1000] * 20, [10_000, 10], [3000, 20_000, 3000]])
def test_memory_is_bounded(sizes: list[int]) -> None:
    """The least recently used makes room; what is larger than all the room is not kept."""
    recent = Recent(max_bytes=6000)
    for number, size in enumerate(sizes):
        recent.keep(str(number), Known(Entry(0.0, body=bytes(size))))
        recent.keep(str(number), Known(Entry(1.0, body=bytes(size))))
    kept = [number for number in range(len(sizes)) if recent.find(str(number)).entry]
    assert sum(sizes[number] for number in kept) + 500 * len(kept) <= 6000
    assert kept == list(range(len(sizes) - len(kept), len(sizes)))
    assert len(recent) == len(kept) > 0


def test_what_was_used_last_stays_longest() -> None:
    recent = Recent(max_bytes=2000)
    for key in ("a", "b"):
        recent.keep(key, Known(Entry(0.0, body=bytes(300))))
    recent.find("a")
    recent.keep("c", Known(Entry(0.0, body=bytes(300))))
    assert [bool(recent.find(key).entry) for key in "abc"] == [True, False, True]
