"""The counts of a worker: requests, seconds of sockets, and what the roll-up takes."""

from quotecast.access.usage import MAX_TOTALS, Taken, Usage

KEY = "01a1fc87e0c47a905dd5d088"
OTHER = "01a1fc87e0c47a905dd5d089"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_refused_requests_count_twice() -> None:
    """401, 403 and 429 are requests and refused ones; other errors are requests only."""
    usage = Usage(Clock())
    for status in (200, 304, 401, 403, 404, 422, 429, 503):
        usage.add_request(KEY, status)
    assert usage.take() == {KEY: Taken(8, 3, 0, 0, 0)}
    assert usage.refusals == {401: 1, 403: 1, 429: 1}


def test_taken_counts_start_again() -> None:
    """A second roll-up takes what came after the first, and nothing of idle keys."""
    usage = Usage(Clock())
    usage.add_request(KEY, 200)
    usage.of(KEY).bytes += 40
    assert usage.take() == {KEY: Taken(1, 0, 0, 0, 40)}
    assert usage.take() == {}
    usage.add_request(OTHER, 200)
    assert usage.take() == {OTHER: Taken(1, 0, 0, 0, 0)}


def test_open_socket_counts_its_seconds_at_every_roll_up() -> None:
    """A socket that stays open for days counts every day."""
    clock = Clock()
    usage = Usage(clock)
    usage.open_socket(KEY)
    clock.now += 10.0
    assert usage.take()[KEY].milliseconds == 10_000
    clock.now += 10.5
    assert usage.take()[KEY].milliseconds == 10_500
    clock.now += 1.25
    usage.close_socket(KEY)
    clock.now += 100.0
    assert usage.take()[KEY].milliseconds == 1250
    assert usage.take() == {}


def test_sockets_of_one_key_add_up() -> None:
    """Two sockets that are open together count two seconds a second."""
    clock = Clock()
    usage = Usage(clock)
    usage.open_socket(KEY)
    clock.now += 2
    usage.open_socket(KEY)
    clock.now += 3
    usage.close_socket(KEY)
    clock.now += 4
    usage.close_socket(KEY)
    assert usage.take()[KEY].milliseconds == (2 + 2 * 3 + 4) * 1000


def test_socket_keeps_its_counts_over_roll_ups() -> None:
    """A socket adds to the counts that it got when it opened."""
    usage = Usage(Clock())
    counts = usage.open_socket(KEY)
    usage.take()
    counts.quotes += 5
    counts.bytes += 700
    assert usage.take() == {KEY: Taken(0, 0, 0, 5, 700)}


def test_busiest_keys_are_those_with_the_most_requests() -> None:
    """Requests count since the start, taken or not; the number of sockets is the present one."""
    usage = Usage(Clock())
    for _ in range(3):
        usage.add_request(KEY, 200)
    usage.take()
    usage.add_request(KEY, 200)
    usage.add_request(OTHER, 200)
    usage.open_socket(OTHER)
    assert usage.busiest(5) == {KEY: (4, 0), OTHER: (1, 1)}
    assert usage.busiest(1) == {KEY: (4, 0)}


def test_totals_are_bounded() -> None:
    """Of very many keys a worker remembers those with the most requests."""
    usage = Usage(Clock())
    for _ in range(2):
        usage.add_request(KEY, 200)
    for number in range(MAX_TOTALS + 10):
        usage.add_request(f"{number:024x}", 200)
    usage.take()
    assert usage.busiest(1) == {KEY: (2, 0)}
    assert len(usage.busiest(2 * MAX_TOTALS)) == MAX_TOTALS // 2
