"""Commands of the feed protocol and their answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.bus.base import Batch, Change
from quotecast.errors import CloseCode
from quotecast.feed.commands import Query
from quotecast.feed.frames import Limits
from quotecast.feed.mirror import Mirror
from quotecast.feed.session import FeedSession, is_ahead
from quotecast.market.feeds import Feed
from support.market_made import EPOCH, state_of, stock, wire_epoch


@pytest.fixture
def mirror() -> Mirror:
    return made_mirror()


def made_mirror() -> Mirror:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("MSFT"), stock("TSLA")]))
    return mirror


def opened(mirror: Mirror, **query: str) -> tuple[FeedSession, list[dict[str, Any]]]:
    session = FeedSession(mirror, Limits(symbols=2))
    return session, [json.loads(frame) for frame in session.open(Query(**query), 15_000)]


def answers_to(session: FeedSession, **command: Any) -> list[dict[str, Any]]:
    return [json.loads(frame) for frame in session.receive(json.dumps(command), 0.0)]


def move(mirror: Mirror, ticker: str, price: float, *, removed: tuple[str, ...] = ()) -> None:
    seq = mirror.mark.seq + 1
    changes = [Change(stock(ticker, price))] if ticker else []
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=changes, removed=removed))


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]


def test_welcome_names_the_bounds_of_the_connection(mirror: Mirror) -> None:
    """An address without a query gets the welcome alone, with the bounds of a connection."""
    _, frames = opened(mirror)
    assert frames == [
        {
            "type": "welcome",
            "feed": "market",
            "epoch": wire_epoch(),
            "seq": 1,
            "heartbeatMs": 15_000,
            "limits": {"symbols": 2},
        }
    ]


def test_the_address_may_subscribe(mirror: Mirror) -> None:
    """The address takes symbols in any case, with blanks and repetitions; the answer names unknown ones."""
    session, frames = opened(mirror, symbols="msft, AAPL,,XXXX,aapl", interval="1000")
    assert kinds(frames) == ["welcome", "subscribed", "snapshot"]
    assert frames[1] == {
        "type": "subscribed",
        "symbols": ["AAPL", "MSFT"],
        "rejected": [{"symbol": "XXXX", "code": 404}],
        "interval": 1000,
    }
    assert frames[2]["reason"] == "subscribe"
    assert [quote["ticker"] for quote in frames[2]["data"]] == ["AAPL", "MSFT"]
    assert frames[2]["data"][0] == json.loads(mirror.find("AAPL").full_json())  # type: ignore[union-attr]  # is there
    assert session.interval == 1000


def test_all_is_all_of_them(mirror: Mirror) -> None:
    """A subscription to all gets every symbol, and `all` in the acknowledgement."""
    _, frames = opened(mirror, symbols="ALL")
    assert frames[1]["symbols"] == "all"
    assert {quote["ticker"] for quote in frames[2]["data"]} == {"AAPL", "MSFT", "TSLA"}


def test_a_later_subscribe_first_brings_the_old_set_to_the_present(mirror: Mirror) -> None:
    """A later subscribe sends the update of the old set first, so that one cursor serves both sets."""
    session, _ = opened(mirror, symbols="AAPL")
    move(mirror, "AAPL", 7.0)
    frames = answers_to(session, action="subscribe", symbols=["MSFT"], id=1)
    assert kinds(frames) == ["update", "subscribed", "snapshot"]
    assert [item["ticker"] for item in frames[0]["data"]] == ["AAPL"]
    assert frames[1]["symbols"] == ["AAPL", "MSFT"]
    assert frames[1]["id"] == 1
    assert [item["ticker"] for item in frames[2]["data"]] == ["MSFT"]
    assert frames[0]["seq"] == frames[2]["seq"] == 2
    assert session.advance() is None


def test_a_repeated_subscribe_is_only_acknowledged(mirror: Mirror) -> None:
    """A repeated subscribe adds nothing and gets no snapshot."""
    session, _ = opened(mirror, symbols="AAPL")
    assert kinds(answers_to(session, action="subscribe", symbols=["aapl"])) == ["subscribed"]


def test_a_subscribe_to_unknown_names_leaves_the_set(mirror: Mirror) -> None:
    """The acknowledgement lists the old set and the rejected names."""
    session, _ = opened(mirror, symbols="AAPL")
    (frame,) = answers_to(session, action="subscribe", symbols=["NOPE", "../x"])
    assert frame["symbols"] == ["AAPL"]
    assert [each["symbol"] for each in frame["rejected"]] == ["NOPE", "../x"]


def test_an_update_has_exactly_the_moving_fields(mirror: Mirror) -> None:
    """Moving fields are absolute values, so that updates merge."""
    session, _ = opened(mirror, symbols="AAPL")
    move(mirror, "AAPL", 7.0)
    frame = json.loads(session.advance() or "")
    assert frame.keys() == {"type", "epoch", "seq", "data"}
    assert frame["data"][0].keys() == {
        "ticker",
        "price",
        "change",
        "changePercent",
        "open",
        "high",
        "low",
        "volume",
        "timestamp",
    }


def test_removed_symbols_are_named(mirror: Mirror) -> None:
    """An update names removed symbols, and omits the field without any."""
    session, _ = opened(mirror, symbols="all")
    move(mirror, "", 0.0, removed=("TSLA",))
    frame = json.loads(session.advance() or "")
    assert (frame["data"], frame["removed"]) == ([], ["TSLA"])


def test_resume_brings_what_changed_since_in_full(mirror: Mirror) -> None:
    """A reconnect with a known cursor gets the changes since then, as full quotes."""
    move(mirror, "AAPL", 2.0)
    move(mirror, "MSFT", 3.0)
    _, frames = opened(mirror, symbols="all", since=f"{wire_epoch()}-2")
    assert frames[2]["reason"] == "resume"
    assert [quote["ticker"] for quote in frames[2]["data"]] == ["MSFT"]
    assert "name" in frames[2]["data"][0]


@pytest.mark.parametrize(
    "since", ["other-1", "", "x", f"{wire_epoch()}-", f"{wire_epoch()}--1", f"{wire_epoch()}-9", "1-²", "-1"]
)
def test_a_point_not_known_here_starts_over(mirror: Mirror, since: str) -> None:
    """A foreign epoch, a malformed cursor or a future seq causes a resync."""
    _, frames = opened(mirror, symbols="AAPL", since=since)
    assert frames[2]["reason"] == "resync"
    assert [quote["ticker"] for quote in frames[2]["data"]] == ["AAPL"]


def test_resume_past_a_removal_starts_over(mirror: Mirror) -> None:
    """A removal after the cursor causes a resync: a merged snapshot cannot say that a symbol is gone."""
    move(mirror, "", 0.0, removed=("TSLA",))
    _, frames = opened(mirror, symbols="all", since=f"{wire_epoch()}-1")
    assert frames[2]["reason"] == "resync"
    assert {quote["ticker"] for quote in frames[2]["data"]} == {"AAPL", "MSFT"}


def test_a_client_may_come_from_a_faster_worker(mirror: Mirror) -> None:
    """A cursor from a faster worker is ahead of the mirror, not unknown."""
    assert is_ahead(mirror, f"{wire_epoch()}-2")
    assert not is_ahead(mirror, f"{wire_epoch()}-1")
    assert not is_ahead(mirror, "other-2")
    assert not is_ahead(mirror, None)


@pytest.mark.parametrize("epoch", [EPOCH, f"{EPOCH}.0000"], ids=["no shape", "another shape"])
def test_a_point_that_a_worker_of_another_version_named_starts_over(mirror: Mirror, epoch: str) -> None:
    """A cursor from another version causes a resync: that version may lack a field of this one."""
    _, frames = opened(mirror, symbols="AAPL", since=f"{epoch}-1")
    assert frames[2]["reason"] == "resync"
    assert frames[2]["epoch"] == wire_epoch()
    assert is_ahead(mirror, f"{epoch}-2")


def test_unsubscribe_takes_names_away(mirror: Mirror) -> None:
    """Unsubscribe ignores names without a subscription."""
    session, _ = opened(mirror, symbols="AAPL,MSFT")
    (frame,) = answers_to(session, action="unsubscribe", symbols=["aapl", "NOPE"])
    assert frame["symbols"] == ["MSFT"]
    (frame,) = answers_to(session, action="unsubscribe", symbols="all")
    assert frame["symbols"] == []


def test_names_cannot_be_taken_from_all(mirror: Mirror) -> None:
    """A subscription to all ends only with unsubscribe all."""
    session, _ = opened(mirror, symbols="all")
    assert kinds(answers_to(session, action="unsubscribe", symbols=["AAPL"])) == ["error"]
    assert answers_to(session, action="list")[0]["symbols"] == "all"
    assert answers_to(session, action="unsubscribe", symbols="all")[0]["symbols"] == []


def test_ping_is_answered_with_the_time(mirror: Mirror) -> None:
    """A pong carries the time and the id of the ping."""
    session, _ = opened(mirror)
    assert answers_to(session, action="ping", id="a") == [
        {"type": "pong", "timestamp": "1970-01-01T00:00:00.000Z", "id": "a"}
    ]


def test_too_many_symbols_change_nothing(mirror: Mirror) -> None:
    """A subscribe above the limit of symbols changes nothing, in one command or in several."""
    session, _ = opened(mirror, symbols="AAPL")
    (frame,) = answers_to(session, action="subscribe", symbols=["MSFT", "TSLA"], id=7)
    assert (frame["type"], frame["code"], frame["id"]) == ("error", 400, 7)
    assert answers_to(session, action="list")[0]["symbols"] == ["AAPL"]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "{",
        "[]",
        "null",
        '{"action":"jump"}',
        '{"action":"subscribe"}',
        '{"action":"subscribe","symbols":"some"}',
        '{"action":"subscribe","symbols":[1]}',
        '{"action":"subscribe","symbols":["AAPL"],"interval":333}',
        '{"action":"unsubscribe"}',
        "[" * 100_000,
        " " * 70_000,
        b'{"action":"ping"}',
    ],
)
def test_a_bad_command_is_answered_and_changes_nothing(mirror: Mirror, message: str | bytes) -> None:
    """The error of a bad command says what is wrong, and nothing changes."""
    session, _ = opened(mirror, symbols="AAPL")
    (text,) = session.receive(message, 0.0)
    frame = json.loads(text)
    assert (frame["type"], frame["code"]) == ("error", 400)
    assert frame["detail"]
    assert answers_to(session, action="list")[0]["symbols"] == ["AAPL"]
    assert session.interval == 250


def test_a_bad_command_is_answered_with_its_id(mirror: Mirror) -> None:
    """The error of a bad command carries its id."""
    session, _ = opened(mirror)
    assert answers_to(session, action="jump", id=5)[0]["id"] == 5


@pytest.mark.parametrize("query", [{"interval": "333"}, {"interval": "x"}, {"symbols": "AAPL,MSFT,TSLA"}])
def test_a_bad_address_is_answered_after_the_welcome(mirror: Mirror, query: dict[str, str]) -> None:
    """The error of a bad address follows the welcome, and the connection stays open."""
    _, frames = opened(mirror, **query)
    assert kinds(frames) == ["welcome", "error"]


def test_eleventh_bad_command_closes_the_connection(mirror: Mirror) -> None:
    """The eleventh bad command closes the connection, with a code that says reconnecting will not help."""
    session, _ = opened(mirror)
    for _ in range(10):
        session.receive("{", 0.0)
    assert session.close_code is None
    session.receive("{", 0.0)
    assert session.close_code is CloseCode.BAD_COMMANDS


def test_commands_beyond_twenty_a_second_wait(mirror: Mirror) -> None:
    """Twenty commands pass at once, and then one each twentieth of a second."""
    session, _ = opened(mirror)
    assert [session.pause(100.0) for _ in range(20)] == [0.0] * 20
    assert session.pause(100.0) == pytest.approx(0.05)
    assert session.pause(102.0) == 0.0


@given(st.text() | st.binary())
def test_no_message_breaks_a_session(message: str | bytes) -> None:
    """Any message gets frames in answer, and no exception."""
    session, _ = opened(made_mirror())
    for frame in session.receive(message, 0.0):
        assert json.loads(frame)["type"] in {"error", "pong", "subscribed", "snapshot", "update"}


def test_resume_that_names_what_is_gone_starts_over(mirror: Mirror) -> None:
    """A resume with a name that is gone causes a resync, so that the client drops it."""
    move(mirror, "", 0.0, removed=("TSLA",))
    _, frames = opened(mirror, symbols="AAPL,TSLA", since=f"{wire_epoch()}-1")
    assert frames[1]["rejected"] == [{"symbol": "TSLA", "code": 404}]
    assert frames[2]["reason"] == "resync"
    assert [quote["ticker"] for quote in frames[2]["data"]] == ["AAPL"]


def test_no_symbol_is_refused_before_there_is_data() -> None:
    """Before the first data, a subscribe gets an error: a rejection would be final."""
    session = FeedSession(Mirror(Feed.STOCKS), Limits())
    assert kinds(answers_to(session, action="subscribe", symbols=["AAPL"])) == ["error"]
    assert kinds(answers_to(session, action="subscribe", symbols="all")) == ["subscribed", "snapshot"]


def test_numbers_that_no_notation_can_write_are_refused(mirror: Mirror) -> None:
    """An id must fit MessagePack and JSON, because the answer repeats it."""
    session, _ = opened(mirror)
    (frame,) = answers_to(session, action="ping", id=2**64)
    assert frame["type"] == "error"
    assert "id" not in frame


def test_a_list_that_is_too_long_costs_no_look_up(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list above the limit gets an error before any look-up."""
    session, _ = opened(mirror)
    looked_up: list[str] = []
    monkeypatch.setattr(mirror, "find", looked_up.append)
    for action in ("subscribe", "unsubscribe"):
        (frame,) = answers_to(session, action=action, symbols=["A", "B", "C", "D", "E"])
        assert (frame["type"], frame["detail"]) == ("error", "at most 4 names per command")
    assert looked_up == []
