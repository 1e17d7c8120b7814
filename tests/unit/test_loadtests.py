"""The load test's check of a feed; without failures of its own it would prove nothing."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

# The folder is locust's, not a package: what it imports besides is installed elsewhere.
_PATH = Path(__file__).parent.parent.parent / "loadtests" / "held.py"
_SPEC = importlib.util.spec_from_file_location("held", _PATH)
assert _SPEC
assert _SPEC.loader
held: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(held)

APPLE = {"ticker": "AAPL", "name": "Apple Inc.", "price": 1.0, "sector": "Technology"}
MICROSOFT = {"ticker": "MSFT", "name": "Microsoft Corporation", "price": 5.0, "sector": "Technology"}


def frame(kind: str, seq: int, *data: dict[str, Any], epoch: str = "a", **more: Any) -> dict[str, Any]:
    payload = {"data": list(data)} if data else {}
    return {"type": kind, "epoch": epoch, "seq": seq, **payload, **more}


def snapshot(seq: int, *data: dict[str, Any], reason: str = "subscribe", epoch: str = "a") -> dict[str, Any]:
    return frame("snapshot", seq, *data, epoch=epoch, reason=reason)


@pytest.fixture
def everything() -> Any:
    """A state of a feed at seq 5 that holds Apple and Microsoft."""
    one = held.Held("market")
    one.take(snapshot(5, APPLE, MICROSOFT))
    return one


def test_update_changes_only_what_it_says(everything: Any) -> None:
    """Moving fields update the full quote."""
    everything.take(frame("update", 7, {"ticker": "AAPL", "price": 2.0}))
    assert everything.quotes["AAPL"] == APPLE | {"price": 2.0}
    assert everything.quotes["MSFT"] == MICROSOFT
    assert everything.since == "a-7"


def test_without_quotes_there_is_no_position() -> None:
    """A client without quotes has no position to resume from."""
    assert held.Held("market").since == ""


def test_removed_symbols_are_let_go(everything: Any) -> None:
    """A removed symbol is no longer in the state."""
    everything.take(frame("update", 6, removed=["MSFT"]))
    assert list(everything.quotes) == ["AAPL"]


def test_resync_replaces_everything(everything: Any) -> None:
    """A snapshot may have an earlier seq, because it starts over."""
    everything.take(snapshot(3, APPLE, reason="resync"))
    assert list(everything.quotes) == ["AAPL"]
    assert everything.since == "a-3"


def test_resume_merges(everything: Any) -> None:
    """Unchanged quotes are still in the state after a resume."""
    everything.take(snapshot(9, APPLE | {"price": 3.0}, reason="resume"))
    assert everything.quotes["AAPL"]["price"] == 3.0
    assert "MSFT" in everything.quotes


def test_heartbeat_of_a_new_epoch_is_believed(everything: Any) -> None:
    """A takeover without changes sends no frame."""
    everything.take(frame("heartbeat", 1, epoch="b"))
    assert everything.since == "b-1"


def test_heartbeat_moves_a_cursor_of_named_symbols() -> None:
    """Other symbols changed, which this client did not subscribe to."""
    some = held.Held("market", ["AAPL"])
    some.take(snapshot(5, APPLE))
    some.take(frame("heartbeat", 8))
    assert some.since == "a-8"


def test_forgetting_starts_over(everything: Any) -> None:
    """The client has neither quotes nor a position afterwards."""
    everything.forget()
    assert everything.quotes == {}
    assert everything.since == ""


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (frame("heartbeat", 6), "hole"),
        (frame("heartbeat", 4), "back"),
        (frame("update", 4, {"ticker": "AAPL", "price": 2.0}), "back"),
        (frame("update", 6, {"ticker": "NVDA", "price": 2.0}), "merge conflict"),
        (snapshot(6, {"ticker": "AAPL", "price": 2.0}), "merge conflict"),
    ],
)
def test_broken_promises_are_failures(everything: Any, broken: dict[str, Any], why: str) -> None:
    """A gap, a step back and moving fields of an unknown symbol are errors."""
    with pytest.raises(held.Broken, match=why):
        everything.take(broken)


def test_quote_nobody_asked_for_is_a_failure() -> None:
    """A subscription by symbols gets only those."""
    with pytest.raises(held.Broken, match="asked for"):
        held.Held("market", ["AAPL"]).take(snapshot(5, MICROSOFT))
