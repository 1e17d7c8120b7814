"""The limit of requests of simulated vendors."""

from quotecast.simulation.vendors.token_bucket import TokenBucket


def test_bucket_refills_with_time() -> None:
    """It never holds more than the burst."""
    now = 0.0
    bucket = TokenBucket(10, 3, lambda: now)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now = 0.1
    assert [bucket.take(), bucket.take()] == [True, False]
    now = 100.0
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_a_clock_that_is_set_back_takes_no_tokens() -> None:
    """Tokens return at their rate from the earlier time on."""
    now = 100.0
    bucket = TokenBucket(10, 3, lambda: now)
    assert bucket.take()
    now = 0.0
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    now = 0.1
    assert [bucket.take(), bucket.take()] == [True, False]
