"""A running service that the tests only read."""

import asyncio
import secrets
from collections.abc import Iterator
from typing import Final

import httpx
import pytest

from quotecast.database import migrations
from support.runs.deadlines import scaled
from support.servers.processes import running_postgres, running_valkey
from support.servers.service import Service

PASSWORD: Final = "correct horse battery"
SETTINGS: Final = {"QUOTECAST_LIMITS": "off", "QUOTECAST_SIMULATOR_RATE": "5"}


@pytest.fixture(scope="package")
def service() -> Iterator[Service]:
    """Runs one worker with accounts, shared by all tests: none disturbs it."""
    with running_valkey() as redis, running_postgres() as postgres:
        asyncio.run(migrations.apply(postgres.url))
        with Service(redis, {**SETTINGS, "QUOTECAST_DATABASE_URL": postgres.url}) as running:
            running.start("ingest", "api")
            yield running


@pytest.fixture(scope="package")
def signed_in(service: Service) -> dict[str, str]:
    """Returns the headers of a new user."""
    given = {"name": "Ayşe", "email": f"{secrets.token_hex(4)}@example.com", "password": PASSWORD}
    answer = httpx.post(f"{service.url}/api/auth/register", json=given, timeout=scaled(30))
    return {"authorization": f"Bearer {answer.json()['token']}"}
