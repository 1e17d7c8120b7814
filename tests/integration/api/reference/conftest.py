"""A service with data, and its OpenAPI document."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from quotecast.api.middleware.middleware import Middleware
from support.made.factories import client_to, edge_of, full_mirrors, services


@pytest.fixture(scope="module")
def edge() -> Middleware:
    return edge_of(services(full_mirrors()))


@pytest_asyncio.fixture
async def client(edge: Middleware) -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(edge) as client:
        yield client


@pytest_asyncio.fixture
async def document(client: httpx.AsyncClient) -> dict[str, Any]:
    document: dict[str, Any] = (await client.get("/api/openapi.json")).json()
    return document
