"""Reconnection delays of the clients of a stopping worker."""

import pytest

from quotecast.stream.clients import (
    HANDSHAKES_PER_SECOND,
    RETRY_CEILING_MS,
    RETRY_FLOOR_MS,
    events_retry_ms,
    retry_ms,
)


def test_few_clients_come_back_at_once() -> None:
    """18 clients waited up to 4.6 s with an earlier formula."""
    assert retry_ms(18) == (RETRY_FLOOR_MS, RETRY_FLOOR_MS + 18)
    assert retry_ms(18)[1] < 500


@pytest.mark.parametrize("clients", [1, 18, 500, 3_000])
def test_clients_come_back_no_faster_than_a_worker_takes_them(clients: int) -> None:
    """Delays spread over the time that one worker needs for all the handshakes."""
    least, most = retry_ms(clients)
    assert clients / HANDSHAKES_PER_SECOND == pytest.approx((most - least) / 1000)


@pytest.mark.parametrize("clients", [5_000, 20_000, 1_000_000])
def test_nobody_waits_for_more_than_the_ceiling(clients: int) -> None:
    """Several workers share so many clients."""
    assert retry_ms(clients) == (RETRY_FLOOR_MS, RETRY_CEILING_MS)
    assert RETRY_CEILING_MS == 5000


def test_a_client_more_never_shortens_the_delays() -> None:
    """Delays grow with the number of clients."""
    most = [retry_ms(clients)[1] for clients in range(0, 10_000, 100)]
    assert most == sorted(most)


def test_without_clients_there_is_a_range_all_the_same() -> None:
    """A client may connect between the count and the farewell."""
    assert retry_ms(0) == (RETRY_FLOOR_MS, RETRY_FLOOR_MS)


def test_event_streams_wait_a_second_before_every_try() -> None:
    """`EventSource` repeats its delay: with a tenth of a second a page tried 130 times in one outage."""
    assert events_retry_ms(1) == (1000, 3000)
    assert events_retry_ms(4_000) == (1000, retry_ms(4_000)[1])
