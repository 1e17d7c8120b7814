"""Frames of running feeds match /api/asyncapi.json, by an independent validator."""

import json
import signal
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from quotecast.feed.encoding import JSON, ROWS
from support.oracles.schemas import validator_of
from support.servers.processes import running_valkey
from support.servers.service import FeedClient, Service

pytestmark = pytest.mark.slow

#: A symbol of each feed that the simulated market trades often.
SYMBOLS = {"market": "AAPL", "crypto": "BTC/USDT", "doviz": "USD", "all": "AAPL"}
#: The streams, each with its subprotocol.
STREAMS = [*((each, JSON.subprotocol) for each in SYMBOLS), ("all", ROWS.subprotocol)]
SETTINGS = {"QUOTECAST_HEARTBEAT_MS": "500", "QUOTECAST_LOG_LEVEL": "error"}


class Served(NamedTuple):
    """What one worker served until it stopped: its document, and the frames of each stream."""

    document: dict[str, Any]
    frames: dict[tuple[str, str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def served() -> Served:
    """Provokes every kind of frame on every stream, the last by the end of the worker."""
    with running_valkey() as redis, Service(redis, SETTINGS) as service, ExitStack() as stack:
        worker = service.start("ingest", "api")
        document = service.get("/api/asyncapi.json").json()
        clients = {}
        for channel, subprotocol in STREAMS:
            address = document["channels"][channel]["address"]
            feed = service.feed(f"{address}?interval=100", subprotocols=[subprotocol])
            clients[channel, subprotocol] = stack.enter_context(feed)
        for (channel, _), client in clients.items():
            provoke(client, channel)
        worker.send_signal(signal.SIGTERM)
        for client in clients.values():
            client.closed()
        return Served(document, {stream: client.state.frames for stream, client in clients.items()})


def validators(document: dict[str, Any], channel: str) -> dict[str, Any]:
    """Returns the validator of each payload by the name of its message."""
    messages = document["channels"][channel]["messages"]
    return {
        name: validator_of(message["payload"], document["components"]) for name, message in messages.items()
    }


def provoke(client: FeedClient, channel: str) -> None:
    """Provokes every kind of frame of a running worker."""
    named = {"feed": "market"} if channel == "all" else {}
    symbol = SYMBOLS[channel]
    commands: list[dict[str, Any]] = [
        {"action": "subscribe", **named, "symbols": [symbol, "NO-SUCH"], "interval": 100, "id": 1},
        {"action": "list", **named, "id": "two"},
        {"action": "ping", "id": 3},
        {"action": "dance"},
        {"action": "unsubscribe", **named, "symbols": [symbol]},
        {"action": "subscribe", **named, "symbols": "all", "interval": 100},
        {"action": "subscribe", **named, "fields": ["price", "timestamp"]},
        {"action": "subscribe", **named, "bars": "1m"},
    ]
    for command in commands:
        client.send(json.dumps(command))
    client.next_of("update", 20)
    client.next_of("heartbeat", 20)


@pytest.mark.parametrize(("channel", "subprotocol"), STREAMS)
def test_every_frame_fits_its_schema(served: Served, channel: str, subprotocol: str) -> None:
    """Every kind of frame occurs, without undocumented fields."""
    known, frames = validators(served.document, channel), served.frames[channel, subprotocol]
    assert {frame["type"] for frame in frames} == known.keys() - {"subscribe", "unsubscribe", "list", "ping"}
    for frame in frames:
        known[frame["type"]].validate(frame)


def test_a_frame_that_the_document_does_not_tell_of_is_found(served: Served) -> None:
    """The validators refuse a missing field, a wrong type and a field too many."""
    known = validators(served.document, "market")
    right = {"type": "shutdown", "retryAfterMs": 1}
    known["shutdown"].validate(right)
    for wrong in ({"type": "shutdown"}, right | {"retryAfterMs": "1"}, right | {"more": 1}):
        assert not known["shutdown"].is_valid(wrong)
