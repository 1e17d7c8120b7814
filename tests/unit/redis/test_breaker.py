"""The circuit breaker that the cache and the rate limiter share."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from quotecast.redis.breaker import FAILURES_TO_OPEN, CircuitBreaker

REFUSED = ConnectionError("refused")


class Server:
    """Answers probes, or refuses them while `down`."""

    def __init__(self) -> None:
        self.down = True
        self.probes = 0

    async def probe(self) -> None:
        self.probes += 1
        if self.down:
            raise REFUSED


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def breaker(server: Server) -> AsyncIterator[CircuitBreaker]:
    breaker = CircuitBreaker(server.probe, pause=0, opened="alone", closed="together", clock=lambda: 0.0)
    yield breaker
    await breaker.stop()


def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        breaker.record_failure(REFUSED)


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_only_failures_in_a_row_open_the_circuit(breaker: CircuitBreaker) -> None:
    """A success in between starts the count again."""
    fail(breaker, FAILURES_TO_OPEN - 1)
    breaker.record_success()
    fail(breaker, FAILURES_TO_OPEN - 1)
    assert not breaker.is_open
    fail(breaker, 1)
    assert (breaker.is_open, breaker.openings) == (True, 1)


async def test_failures_of_commands_under_way_do_not_open_the_circuit_twice(breaker: CircuitBreaker) -> None:
    """Many commands may fail at the same moment."""
    fail(breaker, FAILURES_TO_OPEN * 3)
    assert breaker.openings == 1


async def test_the_circuit_stays_open_until_a_probe_succeeds(breaker: CircuitBreaker, server: Server) -> None:
    """A probe that fails is repeated; after one that succeeds, failures count from zero."""
    fail(breaker, FAILURES_TO_OPEN)
    await turns(20)
    assert (breaker.is_open, server.probes > 1) == (True, True)
    server.down = False
    await turns(20)
    assert (breaker.is_open, breaker.openings) == (False, 1)
    probes = server.probes
    fail(breaker, FAILURES_TO_OPEN - 1)
    await turns(20)
    assert (breaker.is_open, server.probes) == (False, probes)


@pytest.mark.parametrize("down", [True, False])
async def test_the_first_probe_decides_at_once(
    breaker: CircuitBreaker, server: Server, *, down: bool
) -> None:
    """A worker that starts without Redis does not wait for three failures."""
    server.down = down
    await breaker.start()
    assert (breaker.is_open, breaker.openings) == (down, int(down))


async def test_the_log_names_cause_and_end_of_an_outage(breaker: CircuitBreaker, server: Server) -> None:
    """The warning holds the error; the end is logged with the first success, once."""
    with capture_logs() as logs:
        fail(breaker, FAILURES_TO_OPEN)
        server.down = False
        await turns(20)
        breaker.record_success()
        breaker.record_success()
    assert [(each["log_level"], each["event"]) for each in logs] == [
        ("warning", "alone"),
        ("info", "together"),
    ]
    assert logs[0]["error"] == repr(REFUSED)


async def test_stop_ends_the_probes(breaker: CircuitBreaker, server: Server) -> None:
    """No probe runs after the client has closed."""
    fail(breaker, FAILURES_TO_OPEN)
    await breaker.stop()
    probes = server.probes
    await turns(20)
    assert server.probes == probes
