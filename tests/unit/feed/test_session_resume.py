"""A session resumes at the cursor of its client, or starts over with a resync."""

import pytest

from quotecast.feed.mirror import Mirror
from quotecast.feed.session import is_ahead
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, state_of, stock, wire_epoch
from support.stages.feed_session import made_mirror, move, opened


@pytest.fixture
def mirror() -> Mirror:
    return made_mirror()


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
    """A cursor from a faster worker or tier is ahead of the mirror; its epoch may be a newer one."""
    later_epoch, earlier_epoch = f"{int(EPOCH, 16) + 1:020x}", f"{int(EPOCH, 16) - 1:020x}"
    assert is_ahead(mirror, f"{wire_epoch()}-2")
    assert not is_ahead(mirror, f"{wire_epoch()}-1")
    assert not is_ahead(mirror, "other-2")
    assert is_ahead(mirror, f"{later_epoch}-1")
    assert not is_ahead(mirror, f"{earlier_epoch}-9")
    assert not is_ahead(mirror, None)


@pytest.mark.parametrize("epoch", [EPOCH, f"{EPOCH}.0000"], ids=["no shape", "another shape"])
def test_a_point_that_a_worker_of_another_version_named_starts_over(mirror: Mirror, epoch: str) -> None:
    """A cursor from another version causes a resync: that version may lack a field of this one."""
    _, frames = opened(mirror, symbols="AAPL", since=f"{epoch}-1")
    assert frames[2]["reason"] == "resync"
    assert frames[2]["epoch"] == wire_epoch()
    assert is_ahead(mirror, f"{epoch}-2")


def test_resume_that_names_what_is_gone_starts_over(mirror: Mirror) -> None:
    """A resume with a name that is gone causes a resync, so that the client drops it."""
    move(mirror, "", 0.0, removed=("TSLA",))
    _, frames = opened(mirror, symbols="AAPL,TSLA", since=f"{wire_epoch()}-1")
    assert frames[1]["rejected"] == [{"symbol": "TSLA", "code": 404}]
    assert frames[2]["reason"] == "resync"
    assert [quote["ticker"] for quote in frames[2]["data"]] == ["AAPL"]


def test_a_former_symbol_starts_over() -> None:
    """The client's copy may have that instrument's quote, and not the present one's."""
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("META"), stock("AAPL")]))
    _, frames = opened(mirror, symbols="FB,AAPL", since=f"{wire_epoch()}-1")
    assert frames[2]["reason"] == "resync"
    assert [quote["ticker"] for quote in frames[2]["data"]] == ["AAPL", "META"]
