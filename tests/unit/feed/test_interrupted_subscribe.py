"""A connection breaks during the answer to a subscribe; a reconnect as in `docs/feeds.md` leaves no gap."""

import json
from typing import Literal

import pytest

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.commands import Query
from quotecast.feed.mirror import Mirror
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from support.clients.merging_client import MergingClient
from support.made.market import EPOCH, state_of, stock
from support.stages.feed_session import MarketSession


@pytest.fixture
def mirror() -> Mirror:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("MSFT"), stock("TSLA")]))
    return mirror


@pytest.mark.parametrize("received", range(4))
@pytest.mark.parametrize("added", ["all", ["MSFT", "TSLA"]])
def test_the_connection_breaks_within_the_answer(
    mirror: Mirror, added: list[str] | Literal["all"], received: int
) -> None:
    """The answer is an update, `subscribed` and a snapshot; the last may be lost, or the last two, or all."""
    client = MergingClient()
    session = opened(mirror, client)
    change = encode_change(stock("AAPL", 7.0))
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=[change]))
    answer = subscribed(session, added)
    assert len(answer) == 3
    merge(client, answer[:received])
    wanted = client.wanted

    session = opened(mirror, client)
    if missing := client.names_to_subscribe(wanted):
        merge(client, subscribed(session, missing))

    acknowledged = {"AAPL", "MSFT", "TSLA"} if received >= 2 else {"AAPL"}
    assert client.quotes == {
        entry.key: json.loads(entry.full_json()) for entry in mirror.entries(frozenset(acknowledged))
    }


def opened(mirror: Mirror, client: MergingClient) -> MarketSession:
    """Returns the session of a client that subscribes to AAPL first."""
    session = MarketSession(mirror)
    query = Query(symbols=client.names_to_resume or "AAPL", since=client.since)
    merge(client, session.greet(query))
    return session


def subscribed(session: MarketSession, names: list[str] | Literal["all"]) -> list[Frame]:
    return session.receive(json.dumps({"action": "subscribe", "symbols": names}), 0.0)


def merge(client: MergingClient, frames: list[Frame]) -> None:
    for frame in frames:
        client.take(frame.payload)
