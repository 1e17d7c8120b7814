"""The window's script, on a real server with a clock that the test sets."""

from importlib import resources

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quotecast.limits.decision import Decision
from quotecast.limits.fallback import SECOND, LocalWindow

pytestmark = pytest.mark.usefixtures("patient_redis")

MICROSECOND = 1_000
START = 1_700_000_000 * SECOND
STEPS_BACK = st.sampled_from([0, 0, 0, 1, 30, 59, 60, 61, 3600])
STEPS = st.sampled_from([0, MICROSECOND, SECOND, 20 * SECOND, 60 * SECOND - MICROSECOND, 60 * SECOND])


class Script:
    """The shipped script, with a clock that the test sets."""

    def __init__(self, url: str) -> None:
        source = resources.files("quotecast.limits").joinpath("window.lua").read_text()
        assert source.count("redis.call('TIME')") == 1
        self._client = redis.Redis.from_url(url)
        self._script = self._client.register_script(
            source.replace("redis.call('TIME')", "{ARGV[#ARGV - 1], ARGV[#ARGV]}")
        )
        self._client.flushall()
        self.now = START

    def check(self, keys: list[str], limit: int) -> list[tuple[int, int, int]]:
        clock = divmod(self.now // MICROSECOND, 1_000_000)
        limits = ",".join([str(limit)] * len(keys))
        flat = self._script(keys=keys, args=[60_000_000, limits, *clock])
        return list(zip(flat[0::3], flat[1::3], flat[2::3], strict=True))

    def close(self) -> None:
        self._client.close()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each example empties the server
)
@given(
    limit=st.integers(1, 4),
    calls=st.lists(st.tuples(STEPS, st.lists(st.sampled_from("abc"), min_size=1, max_size=6)), max_size=25),
)
def test_the_script_decides_as_the_window_in_memory_does(
    redis_url: str, limit: int, calls: list[tuple[int, list[str]]]
) -> None:
    """Each check agrees, in batches with repeated keys, for any advance of the clock."""
    script = Script(redis_url)
    window = LocalWindow(60, clock=lambda: script.now)
    for step, keys in calls:
        script.now += step
        answers = [
            Decision(bool(admitted), limit, remaining, -(-reset // 1_000_000))
            for admitted, remaining, reset in script.check(keys, limit)
        ]
        assert answers == [window.check(key, limit) for key in keys]
    script.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 70), STEPS_BACK), min_size=1, max_size=40))
def test_a_clock_that_steps_back_never_lets_more_in(redis_url: str, steps: list[tuple[int, int]]) -> None:
    """No real 60 s hold more than the limit, and no client waits for more than a window."""
    script = Script(redis_url)
    passed, admitted = 0, []
    for seconds, back in steps:
        passed += seconds
        script.now += (seconds - back) * SECOND
        [(is_admitted, _, reset)] = script.check(["a"], 2)
        assert reset <= 60_000_000
        if is_admitted:
            admitted.append(passed)
    gaps = [later - earlier for earlier, later in zip(admitted, admitted[2:], strict=False)]
    assert all(gap >= 60 for gap in gaps)
    script.close()


@pytest.mark.parametrize("back", [1, 59, 61, 3600])
def test_a_clock_that_stepped_back_shuts_a_key_out_for_one_window(redis_url: str, back: int) -> None:
    """The log moves back with the clock by any step, and keeps its intervals."""
    script = Script(redis_url)
    script.check(["a"], 2)
    script.now += 20 * SECOND
    script.check(["a"], 2)
    script.now -= back * SECOND
    assert script.check(["a"], 2) == [(0, 0, 40_000_000)]
    script.now += 40 * SECOND
    assert script.check(["a", "a"], 2) == [(1, 0, 20_000_000), (0, 0, 20_000_000)]
    script.close()


def test_a_log_that_moved_back_expires(redis_url: str) -> None:
    """A window without requests removes it."""
    script = Script(redis_url)
    script.check(["a"], 1)
    script.now -= 30 * SECOND
    assert script.check(["a"], 1) == [(0, 0, 60_000_000)]
    with redis.Redis.from_url(redis_url) as client:
        assert 0 < client.pttl("a") <= 60_000
    script.close()
