"""What an address and a subscription may ask of a connection: its heartbeats, and no snapshot."""

import json
from typing import Any

import pytest

from quotecast.feed.commands import Query
from quotecast.feed.encoding import JSON, PACKED_ROWS, ROWS, Encoding
from quotecast.feed.mirror import Mirror
from support.clients.merging_client import READERS
from support.stages.feed_session import MarketSession, made_mirror, move, opened, parsed


@pytest.fixture
def mirror() -> Mirror:
    return made_mirror()


def greeted(mirror: Mirror, heartbeat: str | None) -> tuple[MarketSession, list[dict[str, Any]]]:
    session = MarketSession(mirror)
    return session, parsed(session.open({"market": Query("AAPL")}, heartbeat))


@pytest.mark.parametrize(("seconds", "milliseconds"), [(None, 15_000), ("1", 1000), ("60", 60_000)])
def test_the_address_may_set_the_heartbeats(mirror: Mirror, seconds: str | None, milliseconds: int) -> None:
    """The welcome names the interval of the connection."""
    session, frames = greeted(mirror, seconds)
    assert frames[0]["heartbeatMs"] == session.heartbeat_ms == milliseconds
    assert [frame["type"] for frame in frames[1:]] == ["subscribed", "snapshot"]


@pytest.mark.parametrize("wrong", ["0", "61", "1.5", "-1", "", "soon", "²", "1" * 5000])
def test_other_heartbeats_are_an_error(mirror: Mirror, wrong: str) -> None:
    """The client reads the bounds, and its connection has the service's interval."""
    _, frames = greeted(mirror, wrong)
    assert frames[0]["heartbeatMs"] == 15_000
    assert frames[1] == {
        "type": "error",
        "code": 400,
        "detail": "heartbeat: Must be whole seconds from 1 to 60",
    }
    assert [frame["type"] for frame in frames[2:]] == ["subscribed", "snapshot"]


def test_a_client_may_decline_the_snapshot(mirror: Mirror) -> None:
    """It receives the changes alone; the first one has the moving fields only."""
    session, frames = opened(mirror, symbols="AAPL", snapshot="false")
    assert [frame["type"] for frame in frames] == ["welcome", "subscribed"]
    assert session.advance() is None
    move(mirror, "AAPL", 7.0)
    (update,) = parsed([session.advance()])
    assert [(item["ticker"], item["price"]) for item in update["data"]] == [("AAPL", 7.0)]
    assert "name" not in update["data"][0]


def test_a_command_may_decline_the_snapshot_of_added_symbols(mirror: Mirror) -> None:
    """The old list is brought to the present as ever, so that one cursor serves both."""
    session, _ = opened(mirror, symbols="AAPL")
    move(mirror, "AAPL", 7.0)
    command = {"action": "subscribe", "symbols": ["MSFT"], "snapshot": False}
    answer = parsed(session.receive(json.dumps(command), 0.0))
    assert [frame["type"] for frame in answer] == ["update", "subscribed"]
    assert answer[1]["symbols"] == ["AAPL", "MSFT"]


def test_a_cursor_asks_for_what_was_missed(mirror: Mirror) -> None:
    """With `since` the snapshot comes: it has what changed, or replaces a copy that is too old."""
    cursor = f"{mirror.mark.epoch}-{mirror.mark.seq}"
    move(mirror, "AAPL", 7.0)
    for since, reason in ((cursor, "resume"), ("none", "resync")):
        _, frames = opened(mirror, symbols="AAPL", since=since, snapshot="false")
        assert (frames[2]["reason"], frames[2]["data"][0]["price"]) == (reason, 7.0)


def test_other_fields_replace_the_copy_in_any_case(mirror: Mirror) -> None:
    """Without the snapshot the copy would keep fields that no update changes."""
    session, _ = opened(mirror, symbols="AAPL")
    command = {"action": "subscribe", "fields": ["price"], "snapshot": False}
    answer = parsed(session.receive(json.dumps(command), 0.0))
    assert [frame.get("reason") for frame in answer] == [None, "resync"]


@pytest.mark.parametrize("encoding", [ROWS, PACKED_ROWS])
def test_rows_need_their_columns(mirror: Mirror, encoding: Encoding) -> None:
    """In a row notation a snapshot without quotes names the columns."""
    session, read = MarketSession(mirror, encoding), READERS[encoding.subprotocol]
    frames = [read(frame.payload) for frame in session.greet(Query("AAPL", snapshot="false"))]
    assert (frames[2]["reason"], frames[2]["data"]) == ("subscribe", [])
    assert frames[2]["columns"][0] == "ticker"


def test_live_bars_begin_as_ever(mirror: Mirror) -> None:
    """A client without snapshots still learns where its bars begin."""
    _, frames = opened(mirror, symbols="AAPL", bars="1m", snapshot="false")
    assert [(frame["type"], frame.get("reason")) for frame in frames[1:]] == [
        ("subscribed", None),
        ("bars", "subscribe"),
    ]


@pytest.mark.parametrize("wrong", ["no", "0", "FALSE", ""])
def test_the_address_says_true_or_false(mirror: Mirror, wrong: str) -> None:
    _, frames = opened(mirror, symbols="AAPL", snapshot=wrong)
    assert frames[1]["detail"] == "snapshot: Must be true or false"
    _, whole = opened(mirror, symbols="AAPL", snapshot="true")
    assert [frame["type"] for frame in whole] == ["welcome", "subscribed", "snapshot"]


def test_a_subscription_to_nothing_is_an_error_in_any_case(mirror: Mirror) -> None:
    session = MarketSession(mirror, JSON)
    (answer,) = parsed(session.receive('{"action":"subscribe","snapshot":false}', 0.0))
    assert answer["detail"] == "symbols: Must be given with subscribe: a list, or all"
