"""Frames of running feeds match /api/asyncapi.json, by an independent validator."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from quotecast.feed.encoding import JSON, ROWS
from support.schemas import validator_of
from support.servers import running_valkey
from support.service import FeedClient, Service

#: A symbol of each feed that the simulated market trades often.
SYMBOLS = {"market": "AAPL", "crypto": "BTC/USDT", "doviz": "USD", "all": "AAPL"}
SETTINGS = {"QUOTECAST_HEARTBEAT_MS": "500", "QUOTECAST_LOG_LEVEL": "error"}


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """Yields a service whose one worker each test stops and starts."""
    with running_valkey() as redis, Service(redis, SETTINGS) as running:
        running.start("ingest")
        yield running


def validators(document: dict[str, Any], channel: str) -> dict[str, Any]:
    """Returns the validator of each payload by the name of its message."""
    messages = document["channels"][channel]["messages"]
    return {
        name: validator_of(message["payload"], document["components"]) for name, message in messages.items()
    }


def frames_of_every_kind(service: Service, client: FeedClient, channel: str) -> list[dict[str, Any]]:
    """Provokes every kind of frame, the last by the end of the worker."""
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
    service.processes[-1].send_signal(signal.SIGTERM)
    client.closed()
    return client.state.frames


@pytest.mark.parametrize(
    ("channel", "subprotocol"), [*((each, JSON.subprotocol) for each in SYMBOLS), ("all", ROWS.subprotocol)]
)
def test_every_frame_fits_its_schema(service: Service, channel: str, subprotocol: str) -> None:
    """Every kind of frame occurs, without undocumented fields."""
    service.start("api")
    document = service.get("/api/asyncapi.json").json()
    known = validators(document, channel)
    address = document["channels"][channel]["address"]
    with service.feed(f"{address}?interval=100", subprotocols=[subprotocol]) as client:
        frames = frames_of_every_kind(service, client, channel)
    assert {frame["type"] for frame in frames} == known.keys() - {"subscribe", "unsubscribe", "list", "ping"}
    for frame in frames:
        known[frame["type"]].validate(frame)


def test_a_frame_that_the_document_does_not_tell_of_is_found(service: Service) -> None:
    """The validators refuse a missing field, a wrong type and a field too many."""
    service.start("api")
    known = validators(service.get("/api/asyncapi.json").json(), "market")
    right = {"type": "shutdown", "retryAfterMs": 1}
    known["shutdown"].validate(right)
    for wrong in ({"type": "shutdown"}, right | {"retryAfterMs": "1"}, right | {"more": 1}):
        assert not known["shutdown"].is_valid(wrong)
