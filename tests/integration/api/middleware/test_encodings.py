"""All subprotocols carry the same market session."""

import threading
from typing import Any

import pytest
import websockets.sync.client

from support.clients.merging_client import READERS, MergingClient
from support.runs.deadlines import scaled
from support.servers.processes import Valkey
from support.servers.service import Service

pytestmark = pytest.mark.slow

FRAMES = 20


def followed(url: str, subprotocol: str) -> dict[str, dict[str, Any]]:
    """Returns the client's merged state at each cursor that it received."""
    client = MergingClient(subprotocol=subprotocol)
    states: dict[str, dict[str, Any]] = {}
    with websockets.sync.client.connect(
        url, max_size=None, compression=None, subprotocols=[websockets.Subprotocol(subprotocol)]
    ) as connection:
        while len(states) < FRAMES:
            client.take(connection.recv(timeout=scaled(10)))
            states[client.since] = {key: dict(quote) for key, quote in client.quotes.items()}
    return states


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/api/ws/market?symbols=sector:Energy", marks=pytest.mark.slow),
        "/api/ws/market?symbols=all",
    ],
)
def test_all_subprotocols_merge_to_the_same_state(own_valkey: Valkey, path: str) -> None:
    """At every cursor that two clients share, their states are equal."""
    held: dict[str, dict[str, dict[str, Any]]] = {}
    with Service(own_valkey, {"QUOTECAST_SIMULATOR_RATE": "2000"}) as service:
        service.start("ingest", "api")
        url = f"ws://127.0.0.1:{service.port}{path}"

        def follow(subprotocol: str) -> None:
            held[subprotocol] = followed(url, subprotocol)

        threads = [threading.Thread(target=follow, args=[subprotocol]) for subprotocol in READERS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    first, *others = held.values()
    assert len(others) == len(READERS) - 1
    for other in others:
        common = first.keys() & other.keys()
        assert common
        assert all(first[point] == other[point] for point in common)
