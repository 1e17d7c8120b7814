"""The worker's copy of a feed."""

from quotecast.bus.base import Batch, Change, StoredQuote
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from support.market_made import EPOCH, state_of, stock


def loaded(*tickers: str) -> Mirror:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of(stock(ticker) for ticker in tickers))
    return mirror


def batch(seq: int, *changes: Change, removed: tuple[str, ...] = (), epoch: str = EPOCH) -> Batch:
    return Batch(feed=Feed.STOCKS, epoch=epoch, seq=seq, changes=changes, removed=removed)


def test_only_the_next_batch_is_taken() -> None:
    """A hole is refused and changes nothing; a batch seen before counts as taken."""
    mirror = loaded("AAPL")
    assert not mirror.apply(batch(3, Change(stock("AAPL", 1.0))))
    assert mirror.apply(batch(1, Change(stock("AAPL", 2.0))))
    assert not mirror.apply(batch(2, Change(stock("AAPL", 3.0)), epoch="other"))
    assert mirror.quotes() == {"AAPL": stock("AAPL")}
    assert mirror.apply(batch(2, Change(stock("AAPL", 4.0))))
    assert mirror.quotes() == {"AAPL": stock("AAPL", 4.0)}


def test_a_takeover_counts_as_changes_only_what_differs() -> None:
    """A new epoch with the same values leaves the revision where it was."""
    mirror = loaded("AAPL", "MSFT", "OLD")
    before = mirror.mark.revision
    mirror.load(state_of([stock("AAPL"), stock("MSFT", 5.0)], epoch="0000000000bb00000001"))
    assert {entry.key for entry in mirror.changed_since(before)} == {"MSFT", "OLD"}
    assert mirror.epoch == "0000000000bb00000001"
    assert len(mirror) == 2


def test_an_older_state_of_the_same_epoch_is_ignored() -> None:
    """A load that raced with newer batches does not bring old prices back."""
    mirror = loaded("AAPL")
    mirror.apply(batch(2, Change(stock("AAPL", 2.0))))
    mirror.load(state_of([stock("AAPL", 1.0)]))
    assert mirror.quotes() == {"AAPL": stock("AAPL", 2.0)}


def test_a_client_told_before_a_full_change_gets_the_full_quote() -> None:
    """Moving fields suffice only if nothing else changed past the cursor."""
    mirror = loaded("AAPL")
    told = mirror.mark.revision
    mirror.apply(batch(2, Change(stock("AAPL", 2.0, name="Apple"), full=True)))
    mirror.apply(batch(3, Change(stock("AAPL", 3.0, name="Apple"))))
    (entry,) = mirror.changed_since(told)
    assert b'"name":"Apple"' in bytes(entry.since(told, "json"))
    assert b"name" not in bytes(entry.since(mirror.mark.revision - 1, "json"))


def test_walks_by_key_and_by_change_agree() -> None:
    """Whichever is shorter, the result is the same."""
    mirror = loaded(*(f"T{number}" for number in range(50)))
    told = mirror.mark.revision
    for seq in range(2, 12):
        mirror.apply(batch(seq, Change(stock(f"T{seq}", float(seq)))))
    few, many = frozenset({"T3"}), frozenset(f"T{number}" for number in range(40))
    assert [entry.key for entry in mirror.changed_among(few, mirror.of_keys(few), told)] == ["T3"]
    assert {entry.key for entry in mirror.changed_among(many, mirror.of_keys(many), told)} == {
        f"T{n}" for n in range(2, 12)
    }


def test_removed_symbols_are_remembered_and_may_come_back() -> None:
    """A tombstone tells clients; the symbol is found again once it is quoted again."""
    mirror = loaded("AAPL", "OLD")
    told = mirror.mark.revision
    mirror.apply(batch(2, removed=("OLD",)))
    assert mirror.find("OLD") is None
    assert len(mirror) == 1
    assert [(entry.key, entry.quote) for entry in mirror.changed_since(told)] == [("OLD", None)]
    mirror.apply(batch(3, Change(stock("OLD"))))
    assert mirror.find("old") is not None
    assert len(mirror) == 2


def test_a_loaded_tombstone_of_an_unknown_symbol_is_no_quote() -> None:
    """A worker that starts after a removal does not serve the removed symbol."""
    mirror = Mirror(Feed.STOCKS)
    state = state_of([stock("AAPL")])
    mirror.load(
        type(state)(state.feed, state.epoch, 2, state.info, {**state.entries, "X": StoredQuote(2, 2)})
    )
    assert mirror.find("X") is None
    assert len(mirror) == 1


def test_the_feed_is_down_before_data_and_stale_in_silence() -> None:
    """Live needs data, a bus heard within three seconds, and an upstream in time."""
    mirror = Mirror(Feed.STOCKS)
    assert mirror.state(0.0) == "down"
    mirror.load(state_of([stock()]))
    mirror.heard_at = 10.0
    assert mirror.state(13.0) == "live"
    assert mirror.state(13.1) == "stale"


def test_what_is_made_of_a_state_is_made_once() -> None:
    """Shared answers are built at the first request after a change, not at each."""
    mirror = loaded("AAPL")
    made: list[int] = []
    for _ in range(3):
        mirror.once("all", lambda: made.append(1))
    mirror.apply(batch(2, Change(stock("AAPL", 2.0))))
    mirror.once("all", lambda: made.append(2))
    assert made == [1, 2]
