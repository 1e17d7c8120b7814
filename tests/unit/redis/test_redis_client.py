"""Clients of Redis, before they connect."""

from typing import Any

import pytest
from redis.asyncio.cluster import RedisCluster

from quotecast.redis.client import Client, connect


def made_connection(client: Client) -> Any:
    if isinstance(client, RedisCluster):
        (node,) = client.startup_nodes
        return node.connection_class(**node.connection_kwargs)
    return client.connection_pool.make_connection()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("kind", ["redis", "redis+cluster", "redis+sentinel"])
def test_a_connection_reads_no_metadata_of_its_library(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the version of a package stops the event loop for a millisecond or more."""
    monkeypatch.setattr("importlib.metadata.version", lambda name: pytest.fail(f"read that of {name}"))
    service = "/main" if kind == "redis+sentinel" else ""
    made = made_connection(connect(f"{kind}://127.0.0.1:1{service}", "bus"))
    assert made.driver_info.formatted_name == "redis-py"
