"""What the leader of a feed knows and has yet to tell."""

from typing import Final

from msgspec.structs import replace

from quotecast.bus.base import Snapshot, StoredQuote
from quotecast.bus.wire import encode_change
from quotecast.ingest.ledger import REMEMBERED_CLOSINGS, Ledger, new_epoch
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.providers.base import Update
from support.made.market import INFO, stock

#: 2026-11-20T15:00:00Z, when the exchange is open.
NOON: Final = 1_795_186_800.0


def begun(*tickers: str) -> Ledger:
    ledger = Ledger(Feed.STOCKS)
    ledger.take(Update([stock(ticker) for ticker in tickers]), 0.0)
    ledger.begin("e1", INFO)
    return ledger


def test_changes_of_a_symbol_merge_until_a_batch_takes_them() -> None:
    """A batch has the newest quote, in full if any of the merged changes was in full."""
    ledger = begun("AAPL", "MSFT")
    ledger.take(Update([stock("AAPL", 2.0, name="Apple")]), 0.0)
    ledger.take(Update([stock("AAPL", 3.0, name="Apple")]), 0.0)
    batch, entries, _ = ledger.next_batch(5.0)
    quote, bars = stock("AAPL", 3.0, name="Apple"), ledger.bars.progress_of("AAPL")
    assert batch.changes == [encode_change(quote, full=True, bars=bars)]
    assert entries == {"AAPL": StoredQuote(2, 2, quote, bars)}
    assert (batch.seq, batch.epoch, batch.sent_at) == (2, "e1", 5.0)
    assert not ledger.waiting


def test_what_did_not_change_is_not_told() -> None:
    """Empty batches are never published."""
    ledger = begun("AAPL")
    ledger.take(Update([stock("AAPL")]), 0.0)
    ledger.take(Update(), 0.0)
    assert not ledger.waiting


def test_a_move_keeps_the_seq_of_the_last_full_change() -> None:
    """A reader can tell which clients need more than moving fields."""
    ledger = begun("AAPL")
    ledger.take(Update([stock("AAPL", 2.0)]), 0.0)
    batch, entries, _ = ledger.next_batch(0.0)
    assert batch.changes[0].full is False
    assert entries["AAPL"].full_seq == 1


def test_a_removed_symbol_is_told_once_and_stays_as_a_tombstone() -> None:
    """Until the epoch ends."""
    ledger = begun("AAPL", "OLD")
    ledger.take(Update(removed=["OLD", "NEVER"]), 0.0)
    ledger.take(Update(removed=["OLD"]), 0.0)
    batch, entries, _ = ledger.next_batch(0.0)
    assert (list(batch.removed), entries) == (
        ["OLD"],
        {"OLD": StoredQuote(2, 2, None, ledger.bars.progress_of("OLD"))},
    )
    assert set(ledger.begin("e2", INFO).entries) == {"AAPL"}


def test_a_complete_update_removes_what_it_lacks() -> None:
    """It is all there is."""
    ledger = begun("AAPL", "OLD")
    ledger.take(Update([stock("AAPL")], complete=True), 0.0)
    assert list(ledger.next_batch(0.0)[0].removed) == ["OLD"]


def test_an_epoch_begins_with_everything_and_nothing_waits() -> None:
    """Changes that were on their way are part of it."""
    ledger = begun("AAPL")
    ledger.take(Update([stock("MSFT")]), 0.0)
    state = ledger.begin("e2", INFO)
    assert (state.epoch, state.seq, set(state.entries)) == ("e2", 1, {"AAPL", "MSFT"})
    assert not ledger.waiting


def test_a_successor_starts_from_the_old_state() -> None:
    """Symbols without a message of the new connection stay."""
    ledger = Ledger(Feed.STOCKS)
    assert not ledger
    entries = {"AAPL": StoredQuote(7, 3, stock("AAPL")), "OLD": StoredQuote(8, 8, None)}
    ledger.inherit(Snapshot(Feed.STOCKS, "e1", 8, INFO, entries), same_provider=True)
    ledger.take(Update([stock("MSFT")]), 0.0)
    assert set(ledger.begin("e2", INFO).entries) == {"AAPL", "MSFT"}


def test_epochs_sort_by_time_and_never_repeat() -> None:
    """Also two begun in the same millisecond differ; none holds the cursor's separator."""
    early, late = new_epoch(1_000.0), new_epoch(1_000.001)
    assert early < late
    assert new_epoch(5.0) != new_epoch(5.0)
    assert "-" not in early


def test_closings_wait_for_a_bus_that_is_away() -> None:
    """Each try to begin an epoch fails, and none of their closings is lost."""
    ledger = begun("AAPL")
    minutes = 3 * REMEMBERED_CLOSINGS
    for minute in range(minutes):
        now = NOON + 60 * minute
        quote = replace(stock("AAPL", 1.0 + minute), timestamp=iso_utc(now))
        ledger.take(Update([quote]), now)
        state = ledger.begin("e2", INFO)
    assert len(state.closings) == minutes - 2
    ledger.next_batch(0.0)
    assert len(ledger.snapshot(INFO).closings) == REMEMBERED_CLOSINGS
