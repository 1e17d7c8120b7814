"""The state of one cache key, and one worker's memory of states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.cache.base import Policy
from quotecast.cache.state import (
    SKEW_SECONDS,
    CacheEntry,
    CacheState,
    UpstreamFailure,
    decode,
    encode,
    merge_states,
)
from quotecast.cache.store import RecentStates
from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError

seconds = st.integers(0, 100)
policies = st.builds(Policy, fresh_seconds=seconds, stale_seconds=seconds, missing_seconds=seconds)
times = st.floats(0, 200)
outcomes = st.sampled_from(["answer", "not_found", "not_offered"])
entries = st.builds(CacheEntry, times, outcomes, st.binary(), fresh_seconds=st.none() | seconds)
failures = st.builds(UpstreamFailure, times, st.just("down"))
states = st.builds(CacheState, st.none() | entries, st.none() | failures, st.booleans())


@given(states, policies, times)
def test_nothing_is_served_past_its_time(state: CacheState, policy: Policy, now: float) -> None:
    """A status is HIT only while fresh; past its lifetime an entry raises UpstreamError."""
    expired = state.entry is None or state.entry.age(now) >= state.entry.lifetime(policy)
    assert state.is_servable(policy, now) is not expired
    if state.entry is None or expired:
        with pytest.raises(UpstreamError):
            state.answer(policy, now)
    elif state.entry.outcome != "answer":
        with pytest.raises((SymbolNotFound, NotOffered)):
            state.answer(policy, now)
    else:
        cached = state.answer(policy, now)
        assert (cached.body, cached.age_seconds) == (state.entry.body, state.entry.age(now))
        own = state.entry.fresh_seconds
        fresh = policy.fresh_seconds if own is None else min(own, policy.fresh_seconds)
        is_credible = state.entry.stored_at - now <= SKEW_SECONDS
        assert cached.fresh_seconds == (max(0, fresh - cached.age_seconds) if is_credible else 0)
        assert state.fetched or (cached.status == "STALE") is (cached.fresh_seconds == 0)


@given(states, policies, times)
def test_only_a_fresh_entry_or_a_recent_failure_needs_no_fetch(
    state: CacheState, policy: Policy, now: float
) -> None:
    """The cache does not call an upstream again that failed just now."""
    failed = state.failure is not None and now < state.failure.until
    fresh = state.entry is not None and state.entry.is_fresh(policy, now)
    assert state.needs_fetch(policy, now) is not (fresh or failed)


@given(states, states)
def test_merged_state_is_no_older_than_either(one: CacheState, other: CacheState) -> None:
    """The order of the arguments does not matter."""
    together = merge_states(one, other, now=200.0)
    for state in (one, other):
        assert not state.entry or (together.entry and together.entry.stored_at >= state.entry.stored_at)
        assert not state.failure or (together.failure and together.failure.until >= state.failure.until)


@pytest.mark.parametrize("ahead", [SKEW_SECONDS, SKEW_SECONDS + 1])
def test_an_entry_from_the_future_is_not_fresh(ahead: int) -> None:
    """A clock that was ahead, and is set back, keeps no answer fresh and wins over no newer one.

    It is served as stale while the upstream is away.
    """
    policy, is_wrong = Policy(fresh_seconds=100), ahead > SKEW_SECONDS
    future, newer = (CacheState(CacheEntry(at, body=b"1")) for at in (1000.0 + ahead, 1000.0))
    assert future.needs_fetch(policy, 1000.0) is is_wrong
    assert future.answer(policy, 1000.0).status == ("STALE" if is_wrong else "HIT")
    for pair in ((future, newer), (newer, future)):
        assert merge_states(*pair, now=1000.0).entry == (newer if is_wrong else future).entry
    assert merge_states(future, CacheState(), now=1000.0).entry is future.entry


@pytest.mark.parametrize("ahead", [SKEW_SECONDS, SKEW_SECONDS + 1])
def test_a_failure_from_the_future_forbids_no_call(ahead: int) -> None:
    """A wait of five seconds does not become the hour by which a clock was ahead."""
    policy, is_wrong = Policy(fresh_seconds=100), ahead > SKEW_SECONDS
    future = CacheState(failure=UpstreamFailure(1005.0 + ahead, "down", seconds=5.0))
    newer = CacheState(failure=UpstreamFailure(1005.0, "down", seconds=5.0))
    assert future.needs_fetch(policy, 1000.0) is is_wrong
    for pair in ((future, newer), (newer, future)):
        assert merge_states(*pair, now=1000.0).failure == (newer if is_wrong else future).failure


@given(entries)
def test_an_entry_is_read_as_it_was_written(entry: CacheEntry) -> None:
    assert decode(encode(entry), CacheEntry) == entry


@pytest.mark.parametrize("sizes", [[1000] * 20, [10_000, 10], [3000, 20_000, 3000]])
def test_memory_is_bounded(sizes: list[int]) -> None:
    """The least recently used state goes first; one that is larger than the bound goes at once."""
    recent = RecentStates(max_bytes=6000)
    for number, size in enumerate(sizes):
        recent.put(str(number), CacheState(CacheEntry(0.0, body=bytes(size))))
        recent.put(str(number), CacheState(CacheEntry(1.0, body=bytes(size))))
    held = [number for number in range(len(sizes)) if recent.get(str(number)).entry]
    assert sum(sizes[number] for number in held) + 500 * len(held) <= 6000
    assert held == list(range(len(sizes) - len(held), len(sizes)))
    assert len(recent) == len(held) > 0


def test_what_was_used_last_stays_longest() -> None:
    recent = RecentStates(max_bytes=2000)
    for key in ("a", "b"):
        recent.put(key, CacheState(CacheEntry(0.0, body=bytes(300))))
    recent.get("a")
    recent.put("c", CacheState(CacheEntry(0.0, body=bytes(300))))
    assert [bool(recent.get(key).entry) for key in "abc"] == [True, False, True]
