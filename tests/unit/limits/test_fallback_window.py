"""The sliding window in one process's memory, against the definition of a sliding window."""

from hypothesis import given
from hypothesis import strategies as st

from quotecast.limits.decision import Decision
from quotecast.limits.fallback import SECOND, LocalWindow

WINDOW = 60 * SECOND
STEPS = st.sampled_from([0, 1, SECOND, WINDOW // 3, WINDOW - 1, WINDOW, WINDOW + 1])


class Clock:
    def __init__(self) -> None:
        self.now = 7 * SECOND

    def __call__(self) -> int:
        return self.now


@given(st.integers(1, 5), st.lists(st.tuples(STEPS, st.sampled_from("ab")), max_size=60))
def test_a_request_is_admitted_exactly_when_fewer_than_the_limit_were_in_the_window(
    limit: int, requests: list[tuple[int, str]]
) -> None:
    """Refused requests do not count; remaining and reset follow from the admitted ones."""
    clock = Clock()
    window = LocalWindow(60, clock=clock)
    admitted: dict[str, list[int]] = {"a": [], "b": []}
    for step, key in requests:
        clock.now += step
        counted = [time for time in admitted[key] if clock.now - time < WINDOW]
        decision = window.check(key, limit)
        assert decision.admitted == (len(counted) < limit)
        if decision.admitted:
            admitted[key].append(clock.now)
            counted.append(clock.now)
        assert decision.remaining == limit - len(counted)
        assert (decision.reset - 1) * SECOND < counted[0] + WINDOW - clock.now <= decision.reset * SECOND


def test_the_first_request_of_a_window_resets_after_the_whole_window() -> None:
    """The reset is exactly the window, without a second from rounding."""
    assert LocalWindow(60, clock=Clock()).check("a", 10).reset == 60


def test_slot_that_is_given_back_is_free_again() -> None:
    """Earlier requests still count; the window drops a key without requests."""
    clock = Clock()
    window = LocalWindow(60, clock=clock)
    window.check("a", 2)
    clock.now += 20 * SECOND
    window.check("a", 2)
    window.give_back("a")
    assert window.check("a", 2) == Decision(admitted=True, limit=2, remaining=0, reset=40)
    for _ in range(3):
        window.give_back("a")
    assert len(window) == 0


def test_keys_whose_requests_left_the_window_are_forgotten() -> None:
    """A new key evicts all keys without a request in the window."""
    clock = Clock()
    window = LocalWindow(60, clock=clock)
    for number in range(100):
        window.check(str(number), 1)
    clock.now += WINDOW
    window.check("new", 1)
    assert len(window) == 1


def test_a_full_window_drops_the_key_checked_longest_ago() -> None:
    """Memory is bounded for any traffic; a key with frequent checks stays counted."""
    window = LocalWindow(60, max_keys=3, clock=Clock())
    for key in ("first", "second", "third", "first", "fourth"):
        window.check(key, 1)
    assert len(window) == 3
    assert not window.check("first", 1).admitted
    assert window.check("second", 1).admitted
