"""The live grid of OpenBB Workspace: rows for the symbols of the last message."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from websockets.frames import Opcode
from websockets.protocol import OPEN, Side
from websockets.protocol import Protocol as WebSocket

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.close_codes import CloseCode
from quotecast.feed.client import MAX_FAULTS
from quotecast.feed.commands import Query
from quotecast.feed.frames import Limits
from quotecast.feed.grid import GRID, GridSession
from quotecast.feed.mirror import Mirror
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, stock
from support.stages.feed_session import made_mirror


def session_of(mirror: Mirror, symbols: int = 1000) -> GridSession:
    return GridSession([mirror], Limits(symbols=symbols), GRID)


def messages(frames: Iterable[Frame]) -> list[tuple[Opcode, bytes]]:
    """Returns what a client of the field's own library reads."""
    client = WebSocket(Side.CLIENT, state=OPEN)
    for frame in frames:
        client.receive_data(frame.compressed())
    return [(event.opcode, bytes(event.data)) for event in client.events_received()]  # type: ignore[union-attr]


def rows(frames: Iterable[Frame]) -> list[dict[str, Any]]:
    return [json.loads(data) for opcode, data in messages(frames) if opcode is Opcode.TEXT]


def ask(session: GridSession, symbol: Any) -> list[dict[str, Any]]:
    return rows(session.receive(json.dumps({"params": {"symbol": symbol}}), 0.0))


def move(mirror: Mirror, seq: int, ticker: str, price: float) -> None:
    change = encode_change(stock(ticker, price=price))
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=[change]))


def test_a_grid_greets_with_nothing() -> None:
    """Workspace would take a welcome for a row."""
    assert messages(session_of(made_mirror()).open({"market": Query()})) == []


@pytest.mark.parametrize("symbol", ["AAPL,msft", ["AAPL", "MSFT"], " AAPL , MSFT,NOTHING"])
def test_each_row_is_a_message(symbol: Any) -> None:
    """A row has the fields of the quote."""
    mirror = made_mirror()
    found = ask(session_of(mirror), symbol)
    assert [row["ticker"] for row in found] == ["AAPL", "MSFT"]
    (apple, _) = mirror.entries(frozenset({"AAPL", "MSFT"}))
    assert found[0] == json.loads(apple.full_json())


def test_a_change_has_the_changed_cells_and_the_row() -> None:
    mirror = made_mirror()
    session = session_of(mirror)
    ask(session, "AAPL,MSFT")
    move(mirror, 2, "MSFT", 7.0)
    (row,) = rows(session.feeds["market"].subscription.advance())
    assert (row["ticker"], row["price"]) == ("MSFT", 7.0)
    assert "sector" not in row


def test_the_last_message_replaces_the_rows() -> None:
    mirror = made_mirror()
    session = session_of(mirror)
    ask(session, "AAPL,MSFT")
    assert [row["ticker"] for row in ask(session, "MSFT,TSLA")] == ["MSFT", "TSLA"]
    assert session.feeds["market"].subscription.keys == {"MSFT", "TSLA"}
    assert ask(session, []) == []
    assert session.feeds["market"].subscription.keys == frozenset()


def test_a_group_and_all_are_rows_too() -> None:
    session = session_of(made_mirror())
    assert len(ask(session, "all")) == 3
    assert len(ask(session, f"sector:{stock('AAPL').sector}")) == 3


def test_a_heartbeat_is_a_ping() -> None:
    """Every WebSocket client answers it by itself."""
    beat = session_of(made_mirror()).feeds["market"].heartbeat("", "live", "open")
    assert messages([beat]) == [(Opcode.PING, b"")]


@pytest.mark.parametrize("message", ["{}", '{"params":{}}', '{"params":null}', '{"params":{"other":1}}'])
def test_a_message_about_something_else_changes_nothing(message: str) -> None:
    session = session_of(made_mirror())
    ask(session, "AAPL")
    for _ in range(2 * MAX_FAULTS):
        assert session.receive(message, 0.0) == []
    assert session.close_code is None
    assert session.feeds["market"].subscription.keys == {"AAPL"}


@pytest.mark.parametrize(
    "message",
    ["", "[", "[]", '{"params":{"symbol":1}}', b"{}", '{"params":{"symbol":"' + "A," * 40_000 + '"}}'],
)
def test_malformed_messages_end_the_connection(message: str | bytes) -> None:
    """As on every feed: after ten of them."""
    session = session_of(made_mirror())
    for _ in range(MAX_FAULTS):
        assert messages(session.receive(message, 0.0)) == []
        assert session.close_code is None
    session.receive(message, 0.0)
    assert session.close_code is CloseCode.BAD_COMMANDS


def test_too_many_symbols_change_nothing() -> None:
    session = session_of(made_mirror(), symbols=2)
    ask(session, "AAPL")
    assert ask(session, "AAPL,MSFT,TSLA") == []
    assert session.feeds["market"].subscription.keys == {"AAPL"}


@pytest.mark.parametrize(
    ("limits", "symbol"),
    [(Limits(symbols=2, plan="free"), "AAPL,MSFT,TSLA"), (Limits(only=("AAPL",)), "all")],
    ids=["plan", "scope"],
)
def test_a_list_beyond_the_plan_or_the_scope_changes_nothing(limits: Limits, symbol: str) -> None:
    """The rows of the last list go on, with the changes that came before the refused one."""
    mirror = made_mirror()
    session = GridSession([mirror], limits, GRID)
    ask(session, "AAPL")
    move(mirror, 2, "AAPL", 7.0)
    assert [row["price"] for row in ask(session, symbol)] == [7.0]
    move(mirror, 3, "AAPL", 8.0)
    assert [row["price"] for row in rows(session.feeds["market"].subscription.advance())] == [8.0]


def test_a_worker_without_data_sends_the_client_away() -> None:
    """It connects again and asks again; an empty grid would stay empty."""
    session = session_of(Mirror(Feed.STOCKS))
    assert ask(session, "AAPL") == []
    assert session.close_code is CloseCode.NO_DATA


def test_the_address_may_name_the_symbols() -> None:
    found = rows(session_of(made_mirror()).open({"market": Query(symbols="TSLA")}))
    assert [row["ticker"] for row in found] == ["TSLA"]
