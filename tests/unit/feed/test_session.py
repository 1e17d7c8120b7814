"""Commands of the feed protocol and their answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.close_codes import CloseCode
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.made.market import state_of, stock, wire_epoch
from support.stages.feed_session import MarketSession, made_mirror, move, opened, parsed


@pytest.fixture
def mirror() -> Mirror:
    return made_mirror()


def answers_to(session: MarketSession, **command: Any) -> list[dict[str, Any]]:
    return parsed(session.receive(json.dumps(command), 0.0))


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
            "connection": "c1",
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
    assert session.feed.interval == 1000


def test_a_former_symbol_subscribes_to_the_present_one() -> None:
    """It leaves with either name."""
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("META"), stock("AAPL")]))
    session, frames = opened(mirror, symbols="FB,aapl")
    assert (frames[1]["symbols"], frames[1]["renamed"]) == (["AAPL", "META"], {"FB": "META"})
    assert [quote["ticker"] for quote in frames[2]["data"]] == ["AAPL", "META"]
    (frame,) = answers_to(session, action="unsubscribe", symbols=["fb"])
    assert frame["symbols"] == ["AAPL"]
    assert "renamed" not in frame


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
    (frame,) = parsed([session.advance()])
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
    (frame,) = parsed([session.advance()])
    assert (frame["data"], frame["removed"]) == ([], ["TSLA"])


def test_unsubscribe_takes_names_away(mirror: Mirror) -> None:
    """Unsubscribe ignores names without a subscription."""
    session, _ = opened(mirror, symbols="AAPL,MSFT")
    (frame,) = answers_to(session, action="unsubscribe", symbols=["aapl", "NOPE"])
    assert frame["symbols"] == ["MSFT"]
    (frame,) = answers_to(session, action="unsubscribe", symbols="all")
    assert frame["symbols"] == []


def test_unsubscribe_takes_a_symbol_away_that_is_gone(mirror: Mirror) -> None:
    """In any spelling too; its quotes do not come back with it."""
    session, _ = opened(mirror, symbols="AAPL,MSFT")
    move(mirror, "", 0.0, removed=("AAPL",))
    update, frame = answers_to(session, action="unsubscribe", symbols=[" aapl"])
    assert (update["removed"], frame["symbols"]) == (["AAPL"], ["MSFT"])


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
    (frame,) = parsed(session.receive(message, 0.0))
    assert (frame["type"], frame["code"]) == ("error", 400)
    assert frame["detail"]
    assert answers_to(session, action="list")[0]["symbols"] == ["AAPL"]
    assert session.feed.interval == 250


def test_a_bad_command_is_answered_with_its_id(mirror: Mirror) -> None:
    """The error of a bad command carries its id."""
    session, _ = opened(mirror)
    assert answers_to(session, action="jump", id=5)[0]["id"] == 5


@pytest.mark.parametrize("query", [{"interval": "333"}, {"interval": "x"}, {"symbols": "AAPL,MSFT,TSLA"}])
def test_a_bad_address_is_answered_after_the_welcome(mirror: Mirror, query: dict[str, str]) -> None:
    """The error of a bad address follows the welcome, and the connection stays open."""
    _, frames = opened(mirror, None, **query)
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
    for frame in parsed(session.receive(message, 0.0)):
        assert frame["type"] in {"error", "pong", "subscribed", "snapshot", "update"}


def test_no_symbol_is_refused_before_there_is_data() -> None:
    """Before the first data, a subscribe gets an error: a rejection would be final."""
    session = MarketSession(Mirror(Feed.STOCKS))
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
        assert (frame["type"], frame["detail"]) == ("error", "A command may have at most 4 names")
    assert looked_up == []
