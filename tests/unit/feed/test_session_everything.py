"""`all` means every symbol; ALL is also the ticker of Allstate."""

import json
from typing import Any

import pytest

from quotecast.feed.commands import Query
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.made.market import state_of, stock
from support.stages.feed_session import MarketSession, parsed


def opened(symbols: str | None = None) -> tuple[MarketSession, list[dict[str, Any]]]:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("ALL")]))
    session = MarketSession(mirror)
    return session, parsed(session.greet(Query(symbols=symbols)))


@pytest.mark.parametrize(
    ("asked", "subscribed"),
    [("ALL", "all"), (" all ,", "all"), ("ALL,ALL", ["ALL"]), ("all,aapl", ["AAPL", "ALL"])],
)
def test_in_an_address_all_alone_is_everything(asked: str, subscribed: Any) -> None:
    """In an address `all` alone means every symbol, as over REST."""
    assert opened(asked)[1][1]["symbols"] == subscribed


@pytest.mark.parametrize(
    ("symbols", "subscribed"), [("all", "all"), ("ALL", "all"), (["ALL"], ["ALL"]), (["all"], ["ALL"])]
)
def test_in_a_command_a_list_names_symbols(symbols: Any, subscribed: Any) -> None:
    """In a command the text `all` means every symbol; a list names symbols."""
    session, _ = opened()
    frames = parsed(session.receive(json.dumps({"action": "subscribe", "symbols": symbols}), 0.0))
    assert frames[0]["symbols"] == subscribed


@pytest.mark.parametrize(
    ("command", "detail"),
    [
        ({"action": "subscribe", "symbols": "AAPL"}, "symbols: Must be a list of symbols, or all"),
        ({"action": "subscribe", "symbols": 3}, "symbols: Must be a list of symbols, or all"),
        ({"action": "subscribe", "fields": 3}, "fields: Must be a list of fields, or all"),
        ({"action": "subscribe", "fields": []}, "fields: Must name a field, or be all"),
        ({"action": "dance"}, "action: Must be one of subscribe, unsubscribe, list, ping"),
        ({"action": "ping", "id": None, "since": 3}, "since: Must be text, not a whole number"),
        ({}, "action: Must be given"),
        ([], "command: Must be an object, not a list"),
    ],
)
def test_what_is_wrong_with_a_command_is_said_to_people(command: Any, detail: str) -> None:
    session, _ = opened()
    assert parsed(session.receive(json.dumps(command), 0.0))[0]["detail"] == detail
