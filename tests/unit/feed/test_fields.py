"""Clients select fields, and take quotes as rows."""

import itertools
import json
from typing import Any

import pytest
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed import frames
from quotecast.feed.commands import Query
from quotecast.feed.encoding import ENCODINGS, JSON, ROWS, Encoding
from quotecast.feed.entry import MAX_ENCODED
from quotecast.feed.mirror import Mark, Mirror
from quotecast.feed.projection import WHOLE, moving_fields, projection_of
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.market.quotes import ExtendedHours, StockQuote
from support.clients.merging_client import READERS, MergingClient
from support.made.market import EPOCH, state_of, stock
from support.stages.feed_session import MarketSession, made_mirror, move, opened, parsed

STILL = {"type", "ticker", "name", "previousClose", "sector", "industry"}


@pytest.fixture
def mirror() -> Mirror:
    return made_mirror()


def greeted(mirror: Mirror, encoding: Encoding, **query: str) -> tuple[MarketSession, list[dict[str, Any]]]:
    session = MarketSession(mirror, encoding)
    read = READERS[encoding.subprotocol]
    return session, [read(frame.payload) for frame in session.greet(Query(**query))]


def test_items_have_the_key_and_the_selected_fields(mirror: Mirror) -> None:
    """A full quote has the fields that do not move, too."""
    session, frames = opened(mirror, symbols="AAPL", fields="volume, price")
    assert frames[1]["fields"] == ["price", "volume"]
    assert frames[2]["data"][0].keys() == STILL | {"price", "volume"}
    move(mirror, "AAPL", 7.0)
    (update,) = parsed([session.advance()])
    assert update["data"] == [{"ticker": "AAPL", "price": 7.0, "volume": frames[2]["data"][0]["volume"]}]


@pytest.mark.parametrize("fields", ["all", "ALL"])
def test_all_fields_are_the_default(mirror: Mirror, fields: str) -> None:
    """The acknowledgement names fields only if the client has selected some."""
    _, whole = opened(mirror, symbols="AAPL")
    _, same = opened(mirror, symbols="AAPL", fields=fields)
    assert same == whole
    assert "fields" not in same[1]


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ("price,prize", f'fields: There is no "prize"; there are {", ".join(moving_fields(Feed.STOCKS))}'),
        ("name", f'fields: There is no "name"; there are {", ".join(moving_fields(Feed.STOCKS))}'),
        ("", "fields: Must name a field, or be all"),
    ],
)
def test_a_field_that_does_not_move_is_an_error(mirror: Mirror, fields: str, detail: str) -> None:
    """The error names the fields that the client may select, and the client has no subscription."""
    session, frames = opened(mirror, symbols="AAPL", fields=fields)
    assert [frame["type"] for frame in frames] == ["welcome", "error"]
    assert frames[1]["detail"] == detail
    assert parsed(session.receive('{"action":"list"}', 0.0))[0]["symbols"] == []


def test_other_fields_replace_the_copy(mirror: Mirror) -> None:
    """A change of the fields is answered with the whole list; the same fields, with nothing new."""
    session, _ = opened(mirror, symbols="AAPL,MSFT")
    answer = parsed(session.receive('{"action":"subscribe","fields":["price"]}', 0.0))
    assert [frame["type"] for frame in answer] == ["subscribed", "snapshot"]
    assert (answer[1]["reason"], len(answer[1]["data"])) == ("resync", 2)
    assert answer[1]["data"][0].keys() == STILL | {"price"}
    (again,) = parsed(session.receive('{"action":"subscribe","fields":["price"]}', 0.0))
    assert again["fields"] == ["price"]
    assert session.advance() is None


def test_the_first_list_is_no_resync(mirror: Mirror) -> None:
    """There is no copy yet to replace."""
    _, greeting = opened(mirror, symbols="AAPL", fields="price")
    assert greeting[2]["reason"] == "subscribe"
    session, _ = opened(mirror)
    answer = parsed(session.receive('{"action":"subscribe","symbols":["AAPL"],"fields":["price"]}', 0.0))
    assert [frame.get("reason") for frame in answer] == [None, "subscribe"]


def test_a_copy_does_not_resume_with_other_fields(mirror: Mirror) -> None:
    """It would keep the old fields of quotes that did not change."""
    session, greeting = opened(mirror, symbols="AAPL,MSFT", fields="price")
    cursor = f"{greeting[2]['epoch']}-{greeting[2]['seq']}"
    command = {"action": "subscribe", "fields": ["price", "volume"], "since": cursor}
    answer = parsed(session.receive(json.dumps(command), 0.0))
    assert (answer[1]["reason"], len(answer[1]["data"])) == ("resync", 2)
    command["since"] = cursor
    assert parsed(session.receive(json.dumps(command), 0.0))[1]["reason"] == "resume"


def test_selections_leave_no_snapshots_behind(mirror: Mirror) -> None:
    """A client may try every selection while the market rests; shared snapshots are those of all fields."""
    sizes = []
    for count in range(1, 8):
        for fields in itertools.combinations(moving_fields(Feed.STOCKS), count):
            greeted(mirror, ROWS, symbols="all", fields=",".join(fields))
        sizes.append(len(mirror._derived))
    assert set(sizes) == {sizes[0]}


def test_selections_do_not_evict_the_whole_quotes(mirror: Mirror) -> None:
    """REST reads those."""
    entry = mirror.find("AAPL")
    assert entry is not None
    whole = entry.full(WHOLE["json"])
    for fields in itertools.combinations(moving_fields(Feed.STOCKS), 2):
        entry.full(projection_of(Feed.STOCKS, "json", selected=fields))
    assert entry.full(WHOLE["json"]) is whole
    assert len(entry.whole) <= MAX_ENCODED


def test_fields_before_any_symbol_hold_for_later_ones(mirror: Mirror) -> None:
    """An empty subscription has nothing to replace."""
    session, _ = opened(mirror)
    (answer,) = parsed(session.receive('{"action":"subscribe","fields":["price"]}', 0.0))
    assert answer["fields"] == ["price"]
    frames = parsed(session.receive('{"action":"subscribe","symbols":["AAPL"]}', 0.0))
    assert frames[1]["data"][0].keys() == STILL | {"price"}


def test_a_snapshot_of_rows_names_their_columns(mirror: Mirror) -> None:
    """The key, the fields that move, then the others; a row of an update has the first of them."""
    session, frames = greeted(mirror, ROWS, symbols="AAPL", fields="price,change")
    columns = frames[2]["columns"]
    assert columns == ["ticker", "price", "change", "type", "name", "previousClose", "sector", "industry"]
    _, objects = greeted(mirror, JSON, symbols="AAPL", fields="price,change")
    assert dict(zip(columns, frames[2]["data"][0], strict=True)) == objects[2]["data"][0]
    move(mirror, "AAPL", 7.0)
    (update,) = parsed([session.advance()])
    assert update["data"] == [["AAPL", 7.0, objects[2]["data"][0]["change"]]]
    assert "columns" not in update


def test_a_row_of_a_whole_quote_is_as_long_as_the_columns(mirror: Mirror) -> None:
    """It comes when a field changed that does not move."""
    session, frames = greeted(mirror, ROWS, symbols="AAPL")
    change = encode_change(stock("AAPL", name="Another Inc."), full=True)
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=[change]))
    (update,) = parsed([session.advance()])
    item = dict(zip(frames[2]["columns"], update["data"][0], strict=True))
    assert item["name"] == "Another Inc."


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("count", [0, 1, 15, 16, 17])
def test_every_encoding_writes_lists_of_any_length(encoding: Encoding, count: int) -> None:
    """The lengths of MessagePack's arrays have other headers."""
    read = READERS[encoding.subprotocol]
    item = encoding.join([b"7"] * count if encoding.notation == "json" else [b"\x07"] * count)
    frame = encoding.write(frames.snapshot("market", Mark(1, "e", 1), "resume", (), item))
    assert read(frame.payload)["data"] == [7] * count


def test_fifty_quotes_as_rows_with_the_price_alone_are_small() -> None:
    """The frame of docs/feeds.md: a twelfth of the objects' size."""
    mirror = Mirror(Feed.STOCKS)
    tickers = [f"S{number:03}" for number in range(50)]
    mirror.load(state_of([stock(ticker) for ticker in tickers]))
    rows, _ = greeted(mirror, ROWS, symbols="all", fields="price")
    objects, _ = greeted(mirror, JSON, symbols="all")
    changes = [encode_change(stock(ticker, 123.45)) for ticker in tickers]
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=2, changes=changes))
    small, large = rows.advance(), objects.advance()
    assert small is not None
    assert large is not None
    assert len(small) < 50 * 18
    assert len(small) * 6 < len(large)


def change(mirror: Mirror, *, name: str = "", extended: ExtendedHours | UnsetType) -> bool:
    """Brings a new price of AAPL, and a new name if there is one."""
    before = mirror.quotes()["AAPL"]
    assert isinstance(before, StockQuote)
    quote = replace(before, price=before.price + 1, name=name or before.name, extended=extended)
    changes = [encode_change(quote, full=bool(name))]
    return mirror.apply(
        Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=mirror.mark.seq + 1, changes=changes, removed=())
    )


EXTENDED = ExtendedHours(
    session="post", price=7.5, change=0.5, change_percent=7.1429, close=7.0, timestamp="2026-11-20T22:00:00Z"
)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda each: each.subprotocol)
def test_extended_hours_come_to_clients_that_select_them(mirror: Mirror, encoding: Encoding) -> None:
    """They are null while a stock has none, and change like every field that moves."""
    session, frames = greeted(mirror, encoding, symbols="AAPL,MSFT", fields="price,extended")
    client = MergingClient(subprotocol=encoding.subprotocol)
    for frame in frames:
        client.merge(frame)
    assert client.quotes["AAPL"].keys() == STILL | {"price", "extended"}
    assert client.quotes["AAPL"]["extended"] is None
    for extended in (EXTENDED, UNSET):
        assert change(mirror, extended=extended)
        update = session.advance()
        assert update
        client.take(update.payload)
        seen = client.quotes["AAPL"]["extended"]
        assert seen == (json.loads(encode_json(EXTENDED)) if extended else None)
    assert client.quotes["MSFT"]["extended"] is None


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda each: each.subprotocol)
def test_other_clients_see_nothing_of_extended_hours(mirror: Mirror, encoding: Encoding) -> None:
    """Snapshots, changes and whole quotes keep their fields."""
    session, before = greeted(mirror, encoding, symbols="AAPL")
    for name in ("", "", "Pear"):
        assert change(mirror, name=name, extended=EXTENDED)
        update = session.advance()
        assert update
        assert b"extended" not in update.payload
        assert b"post" not in update.payload
    _, again = greeted(mirror, encoding, symbols="AAPL")
    assert again[2].keys() == before[2].keys()
    first, second = before[2]["data"][0], again[2]["data"][0]
    assert len(first) == len(second)
    assert again[2].get("columns") == before[2].get("columns")
