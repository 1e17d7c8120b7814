"""The load test's own judgement of a feed: one that cannot fail would measure nothing."""

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
    told = {"data": list(data)} if data else {}
    return {"type": kind, "epoch": epoch, "seq": seq, **told, **more}


def snapshot(seq: int, *data: dict[str, Any], reason: str = "subscribe", epoch: str = "a") -> dict[str, Any]:
    return frame("snapshot", seq, *data, epoch=epoch, reason=reason)


@pytest.fixture
def everything() -> Any:
    """Returns the snapshot of a feed at seq 5 with Apple and Microsoft."""
    one = held.FeedState("market")
    one.merge(snapshot(5, APPLE, MICROSOFT))
    return one


def test_update_changes_only_what_it_says(everything: Any) -> None:
    """Moving fields are merged into the quote that is held."""
    everything.merge(frame("update", 7, {"ticker": "AAPL", "price": 2.0}))
    assert everything.quotes["AAPL"] == APPLE | {"price": 2.0}
    assert everything.quotes["MSFT"] == MICROSOFT
    assert everything.since == "a-7"


def test_an_empty_state_has_no_cursor() -> None:
    """Who holds nothing has no point to vouch for."""
    assert held.FeedState("market").since == ""


def test_removed_symbols_are_let_go(everything: Any) -> None:
    """What is gone is no longer held."""
    everything.merge(frame("update", 6, removed=["MSFT"]))
    assert list(everything.quotes) == ["AAPL"]


def test_resync_replaces_everything(everything: Any) -> None:
    """Even from a point before, for it starts over."""
    everything.merge(snapshot(3, APPLE, reason="resync"))
    assert list(everything.quotes) == ["AAPL"]
    assert everything.since == "a-3"


def test_resume_merges(everything: Any) -> None:
    """What did not change past the point is still held."""
    everything.merge(snapshot(9, APPLE | {"price": 3.0}, reason="resume"))
    assert everything.quotes["AAPL"]["price"] == 3.0
    assert "MSFT" in everything.quotes


def test_heartbeat_of_a_new_epoch_is_believed(everything: Any) -> None:
    """A takeover that changed nothing sends no frame."""
    everything.merge(frame("heartbeat", 1, epoch="b"))
    assert everything.since == "b-1"


def test_heartbeat_moves_a_cursor_of_named_symbols() -> None:
    """Other symbols changed, which this client does not follow."""
    some = held.FeedState("market", ["AAPL"])
    some.merge(snapshot(5, APPLE))
    some.merge(frame("heartbeat", 8))
    assert some.since == "a-8"


def test_forgetting_starts_over(everything: Any) -> None:
    """Nothing is held and nothing vouched for."""
    everything.clear()
    assert everything.quotes == {}
    assert everything.since == ""


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (frame("heartbeat", 7), "gap"),
        (frame("heartbeat", 4), "back"),
        (frame("update", 4, {"ticker": "AAPL", "price": 2.0}), "back"),
        (frame("update", 6, {"ticker": "NVDA", "price": 2.0}), "merge conflict"),
        (snapshot(6, {"ticker": "AAPL", "price": 2.0}), "merge conflict"),
    ],
)
def test_broken_promises_are_failures(everything: Any, broken: dict[str, Any], why: str) -> None:
    """A gap, a step back, and moving fields of an unknown symbol break the protocol."""
    with pytest.raises(held.BrokenPromise, match=why):
        everything.merge(broken)


def bars(*times: str, final: bool, **more: Any) -> dict[str, Any]:
    data = [{"ticker": "AAPL", "time": f"2026-11-20T15:{time}:00Z", "final": final} for time in times]
    return frame("bars", 5, epoch="a", **more) | {"interval": "1m", "data": data}


def closing(time: str, *times: str, count: int = 1) -> dict[str, Any]:
    return bars(*times, final=True, closed={"time": f"2026-11-20T15:{time}:00Z", "count": count})


def test_a_batch_may_close_bars_alone(everything: Any) -> None:
    """It moves the cursor, and changes no quote."""
    everything.merge(frame("heartbeat", 6))
    assert everything.since == "a-6"


def test_final_bars_move_the_time_to_resume_from(everything: Any) -> None:
    """The marker says up to when the client has final bars; a resync begins them again."""
    everything.merge_bars(bars("30", final=False, reason="subscribe"))
    everything.merge_bars(closing("31", "30"))
    everything.merge_bars(closing("32", count=0))
    assert everything.bars_since == "2026-11-20T15:32:00Z"
    everything.merge_bars(bars("30", final=False, reason="resync"))
    assert everything.bars_since == ""


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (closing("31", "30"), "final already"),
        (bars("30", final=False), "final already"),
        (closing("32", "31", count=2), "count"),
        (bars("31", final=False, closed={"time": "2026-11-20T15:32:00Z", "count": 1}), "count"),
    ],
)
def test_broken_promises_of_bars_are_failures(everything: Any, broken: dict[str, Any], why: str) -> None:
    """A final bar that comes twice, or a marker that does not count its bars, breaks the protocol."""
    everything.merge_bars(closing("31", "30"))
    with pytest.raises(held.BrokenPromise, match=why):
        everything.merge_bars(broken)


def test_a_quote_outside_of_the_subscription_is_a_failure() -> None:
    """A subscription to names brings only those."""
    with pytest.raises(held.BrokenPromise, match="outside of the subscription"):
        held.FeedState("market", ["AAPL"]).merge(snapshot(5, MICROSOFT))
