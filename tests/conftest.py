"""Fixtures that every level of tests may use."""

from collections.abc import Iterator

import pytest
import redis

from servers import Valkey, running_valkey


@pytest.fixture(scope="session")
def _shared_valkey() -> Iterator[Valkey]:
    with running_valkey() as server:
        yield server


@pytest.fixture
def redis_url(_shared_valkey: Valkey) -> str:
    """A Redis that answers, empty; shared by tests that do not disturb it."""
    with redis.Redis.from_url(_shared_valkey.url) as client:
        client.flushall()
    return _shared_valkey.url


@pytest.fixture
def own_valkey() -> Iterator[Valkey]:
    """A Valkey of the test's own, to kill and to freeze."""
    with running_valkey() as server:
        yield server
