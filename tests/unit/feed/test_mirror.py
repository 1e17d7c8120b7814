"""The mirror: a worker's copy of a feed."""

from collections.abc import Callable

import pytest
from msgspec import structs

from quotecast.bus.base import Batch, Change, StoredQuote
from quotecast.bus.wire import encode_change
from quotecast.feed.mirror import Mirror
from quotecast.feed.projection import WHOLE
from quotecast.market.feeds import Feed
from support.made.factories import snapshot_of
from support.made.market import EPOCH, state_of, stock
from support.made.unreadable import KINDS, with_unreadable_quote


def loaded(*tickers: str) -> Mirror:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of(stock(ticker) for ticker in tickers))
    return mirror


def batch(seq: int, *changes: Change, removed: tuple[str, ...] = (), epoch: str = EPOCH) -> Batch:
    return Batch(feed=Feed.STOCKS, epoch=epoch, seq=seq, changes=changes, removed=removed)


def test_only_the_next_batch_is_taken() -> None:
    """The mirror rejects a batch after a gap, and accepts one that it has applied before."""
    mirror = loaded("AAPL")
    assert not mirror.apply(batch(3, encode_change(stock("AAPL", 1.0))))
    assert mirror.apply(batch(1, encode_change(stock("AAPL", 2.0))))
    assert not mirror.apply(batch(2, encode_change(stock("AAPL", 3.0)), epoch="other"))
    assert mirror.quotes() == {"AAPL": stock("AAPL")}
    assert mirror.apply(batch(2, encode_change(stock("AAPL", 4.0))))
    assert mirror.quotes() == {"AAPL": stock("AAPL", 4.0)}


def test_a_list_leaves_out_what_the_feed_has_no_quote_of() -> None:
    """A removed symbol keeps an entry without a quote, which tells resuming clients that it is gone."""
    mirror = loaded("AAPL", "OLD")
    assert mirror.apply(batch(2, removed=("OLD",)))
    assert [entry.key for entry in mirror.entries(frozenset(("AAPL", "OLD", "NOPE")))] == ["AAPL"]


def test_a_takeover_counts_as_changes_only_what_differs() -> None:
    """A new epoch with equal values does not change the revision."""
    mirror = loaded("AAPL", "MSFT", "OLD")
    before = mirror.mark.revision
    mirror.load(state_of([stock("AAPL"), stock("MSFT", 5.0)], epoch="0000000000bb00000001"))
    assert {entry.key for entry in mirror.changes_since(before)} == {"MSFT", "OLD"}
    assert mirror.epoch == "0000000000bb00000001"
    assert len(mirror) == 2


def test_an_older_state_of_an_ended_epoch_is_ignored() -> None:
    """A bus that lost its last writes may have lost an epoch with them: no cursor of a client goes back."""
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock(price=101)], seq=7))
    mirror.load(state_of([stock(price=102)], epoch="0000000000bb00000001", seq=1))
    before = mirror.mark
    mirror.load(state_of([stock(price=100)], seq=6))
    assert mirror.mark == before
    mirror.load(state_of([stock(price=101)], seq=7))
    assert mirror.mark.seq == 7


def test_an_older_state_of_the_same_epoch_is_ignored() -> None:
    """A load that raced with newer batches does not bring old prices back."""
    mirror = loaded("AAPL")
    mirror.apply(batch(2, encode_change(stock("AAPL", 2.0))))
    mirror.load(state_of([stock("AAPL", 1.0)]))
    assert mirror.quotes() == {"AAPL": stock("AAPL", 2.0)}


def test_a_client_told_before_a_full_change_gets_the_full_quote() -> None:
    """Moving fields suffice only if no other field changed after the cursor."""
    mirror = loaded("AAPL")
    before = mirror.mark.revision
    mirror.apply(batch(2, encode_change(stock("AAPL", 2.0, name="Apple"), full=True)))
    between = mirror.mark.revision
    mirror.apply(batch(3, encode_change(stock("AAPL", 3.0, name="Apple"))))
    (entry,) = mirror.changes_since(before)
    assert b'"name":"Apple"' in entry.since(before, WHOLE["json"])
    assert b"name" not in entry.since(between, WHOLE["json"])


def test_walks_by_key_and_by_change_agree() -> None:
    """Both walks return the same entries."""
    mirror = loaded(*(f"T{number}" for number in range(50)))
    before = mirror.mark.revision
    for seq in range(2, 12):
        mirror.apply(batch(seq, encode_change(stock(f"T{seq}", float(seq)))))
    few, many = frozenset({"T3"}), frozenset(f"T{number}" for number in range(40))
    assert [entry.key for entry in mirror.changes_among(few, mirror.entries_of(few), before)] == ["T3"]
    assert {entry.key for entry in mirror.changes_among(many, mirror.entries_of(many), before)} == {
        f"T{n}" for n in range(2, 12)
    }


def test_removed_symbols_are_remembered_and_may_come_back() -> None:
    """A removed symbol leaves a tombstone, and the next quote restores it."""
    mirror = loaded("AAPL", "OLD")
    before = mirror.mark.revision
    mirror.apply(batch(2, removed=("OLD",)))
    assert mirror.find("OLD") is None
    assert len(mirror) == 1
    assert [(entry.key, entry.quote) for entry in mirror.changes_since(before)] == [("OLD", None)]
    mirror.apply(batch(3, encode_change(stock("OLD"))))
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
    """A live feed has data, and a message of the bus within three seconds."""
    mirror = Mirror(Feed.STOCKS)
    assert mirror.state(0.0) == "down"
    mirror.load(state_of([stock()]))
    mirror.heard_at = 10.0
    assert mirror.state(13.0) == "live"
    assert mirror.state(13.1) == "stale"


def test_a_view_is_computed_once_per_state() -> None:
    """The mirror computes a view at the first call after a change, not at each call."""
    mirror = loaded("AAPL")
    computed: list[int] = []

    def revision(mirror: Mirror) -> int:
        computed.append(mirror.mark.revision)
        return computed[-1]

    assert [mirror.derive(revision) for _ in range(3)] == [1, 1, 1]
    mirror.apply(batch(2, encode_change(stock("AAPL", 2.0))))
    assert mirror.derive(revision) == 2
    assert computed == [1, 2]


def test_views_are_keyed_by_function_and_arguments() -> None:
    """Two views of one name, in two modules, do not share a value; nor does one view for two arguments."""
    mirror = loaded("AAPL")

    def made_in(module: str) -> Callable[[Mirror, str], str]:
        def symbols(mirror: Mirror, category: str) -> str:
            return f"{module} {category} {len(mirror)}"

        return symbols

    crypto, doviz = made_in("crypto"), made_in("doviz")
    assert mirror.derive(crypto, "all") == "crypto all 1"
    assert mirror.derive(doviz, "all") == "doviz all 1"
    assert mirror.derive(doviz, "gold") == "doviz gold 1"


def test_constants_are_passed_to_a_view_and_are_not_its_key() -> None:
    """A table that never changes need not be hashable."""
    mirror = loaded("AAPL")

    def weights(mirror: Mirror, *, shares: dict[str, int]) -> int:
        return len(mirror) * shares["AAPL"]

    assert mirror.derive(weights, shares={"AAPL": 7}) == 7
    assert mirror.derive(weights, shares={}) == 7


@pytest.mark.parametrize("kind", KINDS)
def test_an_unreadable_quote_leaves_a_gap(kind: str) -> None:
    """The mirror keeps the state of the last read, and rejects batches until it has loaded a state."""
    mirror = loaded("AAPL", "MSFT")
    assert mirror.apply(batch(2, encode_change(stock("MSFT", 2.0))))
    before = mirror.mark
    assert mirror.apply(batch(3, encode_change(stock("MSFT", 3.0))))
    assert mirror.apply(with_unreadable_quote(batch(4), kind))
    assert mirror.apply(batch(5, encode_change(stock("MSFT", 5.0))))
    assert mirror.quotes() == {"AAPL": stock("AAPL"), "MSFT": stock("MSFT", 2.0)}
    assert mirror.mark is before
    assert not mirror.apply(batch(6, encode_change(stock("AAPL", 6.0))))
    mirror.load(state_of([stock("AAPL", 6.0), stock("MSFT", 3.0)], seq=6))
    assert {entry.key for entry in mirror.changes_since(before.revision)} == {"AAPL", "MSFT"}
    assert mirror.apply(batch(7, encode_change(stock("AAPL", 7.0))))
    assert mirror.quotes() == {"AAPL": stock("AAPL", 7.0), "MSFT": stock("MSFT", 3.0)}


def test_a_newer_quote_replaces_an_unreadable_one() -> None:
    """The mirror decodes only the newest quote of a symbol."""
    mirror = loaded("AAPL")
    assert mirror.apply(with_unreadable_quote(batch(2), KINDS[0]))
    assert mirror.apply(batch(3, encode_change(stock("AAPL", 3.0))))
    assert mirror.quotes() == {"AAPL": stock("AAPL", 3.0)}
    assert mirror.mark.seq == 3


def test_reload_within_an_epoch_believes_the_numbers() -> None:
    """A quote whose number the mirror has stays; of a newer one the number says whether only moves differ."""
    mirror = Mirror(Feed.STOCKS)
    state = snapshot_of(Feed.STOCKS, [stock("AAPL", 1.0), stock("MSFT", 1.0), stock("NVDA", 1.0)], seq=5)
    mirror.load(state)
    before = mirror.mark.revision
    moved = StoredQuote(7, 5, stock("MSFT", 2.0))
    renamed = StoredQuote(8, 8, structs.replace(stock("NVDA", 1.0), name="Another"))
    entries = {**state.entries, "MSFT": moved, "NVDA": renamed}
    mirror.load(structs.replace(state, seq=8, entries=entries))
    changed = {entry.key: entry.full_revision > before for entry in mirror.changes_since(before)}
    assert changed == {"MSFT": False, "NVDA": True}
    assert [entry.seq for entry in mirror.ordered()] == [5, 7, 8]


def test_quotes_in_order_follow_what_comes_and_goes() -> None:
    """The order is that of symbols, without removed ones."""
    mirror = Mirror(Feed.STOCKS)
    mirror.load(snapshot_of(Feed.STOCKS, [stock("MSFT"), stock("AAPL")], seq=1))
    assert [entry.key for entry in mirror.ordered()] == ["AAPL", "MSFT"]
    mirror.load(snapshot_of(Feed.STOCKS, [stock("MSFT"), stock("IBM")], seq=2))
    assert [entry.key for entry in mirror.ordered()] == ["IBM", "MSFT"]
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=mirror.epoch, seq=3, removed=["IBM"]))
    assert [entry.key for entry in mirror.ordered()] == ["MSFT"]


def test_a_former_symbol_finds_the_present_one() -> None:
    """But not if another instrument has it now, or none has the present one."""
    mirror = loaded("META", "SQ", "XYZ")
    named = mirror.keys_named(["fb", "SQ", "META", "meta", "PCLN"])
    assert named == {"fb": "META", "SQ": "SQ", "META": "META", "meta": "META", "PCLN": None}
    assert mirror.renamed(named.items()) == {"fb": "META"}
    mirror.apply(batch(2, removed=("SQ",)))
    assert mirror.keys_named(["SQ"]) == {"SQ": "XYZ"}
    mirror.apply(batch(3, removed=("XYZ",)))
    assert mirror.keys_named(["SQ"]) == {"SQ": None}
