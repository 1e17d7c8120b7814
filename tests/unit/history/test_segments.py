"""Segments: what ingest publishes comes back as it was, bit for bit, and what is damaged costs little."""

import struct
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from quotecast.bus.base import Snapshot
from quotecast.bus.wire import decode_quote, encode
from quotecast.feed.mirror import Mirror
from quotecast.feed.past import apply_message, mirror_at
from quotecast.history import blocks
from quotecast.history.blocks import Damaged, GroupDecoder, Kind, blocks_of
from quotecast.history.folder import Folder
from quotecast.history.playback import NotRecorded, Playback, span_of
from quotecast.history.segments import SUFFIX, HistoryError
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS
from quotecast.market.quotes import StockQuote
from support.made.history import BEGIN, Clock, RecordedLeader, all_played, batches
from support.made.market import pair, stock

#: Any double but NaN, which is not equal to itself; bits are compared below.
numbers = st.floats(allow_nan=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
times = st.integers(0, 7_200_000).map(lambda number: iso_utc(BEGIN - 1800 + number / 1000))
stocks = st.builds(
    StockQuote,
    ticker=st.sampled_from(["AAPL", "BRK.B", "ÇĞ", "X" * 12, "-"]),
    price=numbers,
    change=numbers | st.none(),
    change_percent=numbers | st.none(),
    high=numbers | st.none(),
    volume=st.integers(0, 10**15).map(str) | st.none(),
    name=texts,
    timestamp=times | st.none(),
)
steps = st.lists(
    st.tuples(
        st.floats(0.001, 400),
        st.lists(stocks, max_size=4),
        st.sets(st.sampled_from(["AAPL", "ÇĞ"])),
        st.sampled_from(["publish", "write", "epoch"]),
    ),
    min_size=1,
    max_size=12,
)


def bars_of(mirror: Mirror) -> object:
    """Returns the final bars with their places, and those in progress."""
    book = mirror.bars
    final = [(known.seq, known.closing) for known in book.closings]
    in_progress = {
        (entry.key, interval): book.in_progress(entry.key, entry.progress, interval)
        for entry in mirror.live()
        for interval in LIVE_INTERVALS
    }
    return book.through, final, in_progress


@given(steps=steps)
def test_what_was_published_comes_back_bit_for_bit(
    steps: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Numberings, times, removals, any double and any text, over epochs and segments."""
    folder = tmp_path_factory.mktemp("history")
    leader = RecordedLeader(folder)
    leader.begin("e0", [stock("AAPL")])
    for number, (seconds, quotes, removed, action) in enumerate(steps):
        leader.clock.now += seconds
        if action == "epoch":
            leader.begin(f"e{number + 1}", quotes)
        else:
            leader.publish(quotes, removed)
        if action == "write":
            leader.write()
    leader.stop()
    played = all_played(folder, Feed.STOCKS, BEGIN, leader.clock.now)
    assert [encode(each) for each in batches(played)] == [encode(each) for each in batches(leader.published)]
    epochs = [each for each in leader.published if isinstance(each, Snapshot)]
    assert [each for each in played if isinstance(each, Snapshot) and each.seq == 1] == epochs


@given(steps=steps)
def test_every_moment_has_the_state_of_then(
    steps: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A mirror that was there and one that is opened later hold the same quotes at the same place."""
    folder = tmp_path_factory.mktemp("history")
    leader, live = RecordedLeader(folder), Mirror(Feed.STOCKS)
    leader.begin("e0", [stock("AAPL")])
    live.load(leader.state())
    moments = []
    for seconds, quotes, removed, _ in steps:
        leader.clock.now += min(seconds, 9.0) + 0.001
        if batch := leader.publish(quotes, removed):
            live.apply(batch)
        leader.beat()
        moments.append((leader.clock.now, live.mark[1:], live.quotes(), bars_of(live)))
    leader.stop()
    for at, place, quotes, bars in moments:
        playback = Playback(Folder(folder), Feed.STOCKS, at, clock=leader.clock)
        past = mirror_at(playback, at)
        playback.close()
        assert (past.mark[1:], past.quotes(), bars_of(past)) == (place, quotes, bars)


def test_a_segment_cut_off_anywhere_is_readable_up_to_its_last_block(tmp_path: Path) -> None:
    """That is what a kill or a loss of power leaves."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL")])
    for number in range(10):
        leader.clock.now += 1
        leader.publish([stock("AAPL", 200.0 + number)])
        leader.write()
    (path,) = tmp_path.glob(f"stocks/*{SUFFIX}")
    whole = path.read_bytes()
    with path.open("rb") as file:
        ends = [block.end for block in blocks_of(file, 0)]
    assert len(ends) == 10
    for length in range(ends[0], len(whole) + 1, 7):
        path.write_bytes(whole[:length])
        count = len(batches(all_played(tmp_path, Feed.STOCKS, BEGIN, leader.clock.now)))
        assert count == sum(end <= length for end in ends)


def test_damage_costs_the_rest_of_a_group(tmp_path: Path) -> None:
    """The next keyframe is readable, and from there on all that follows."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL")])
    for number in range(6):
        leader.clock.now += 1
        leader.publish([stock("AAPL", 200.0 + number)])
        leader.write()
        if number == 3:
            leader.recorder.feeds[Feed.STOCKS].begin(leader.state())
    (path,) = tmp_path.glob(f"stocks/*{SUFFIX}")
    with path.open("rb") as file:
        second = list(blocks_of(file, 0))[1]
    damaged = bytearray(path.read_bytes())
    for at in (second.offset + 5, second.offset + blocks.HEADER_BYTES + 3):
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        played = all_played(tmp_path, Feed.STOCKS, BEGIN, leader.clock.now)
        assert [decode_quote(batch.changes[0].quote).price for batch in batches(played)] == [
            200.0,
            204.0,
            205.0,
        ]


@pytest.mark.parametrize("byte", [6, blocks.HEADER_BYTES + 8], ids=["header", "data"])
def test_a_moment_whose_keyframe_is_damaged_is_not_recorded(byte: int, tmp_path: Path) -> None:
    """The moments from the next keyframe on are; an export begins with it."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL", 1.0)])
    leader.write()
    for number in range(6):
        leader.clock.now += 1
        if number == 3:
            leader.recorder.feeds[Feed.STOCKS].begin(leader.state())
        leader.publish([stock("AAPL", 200.0 + number)])
        leader.write()
    (path,) = tmp_path.glob(f"stocks/*{SUFFIX}")
    damaged = bytearray(path.read_bytes())
    damaged[byte] ^= 0xFF
    path.write_bytes(damaged)
    playback = Playback(Folder(tmp_path), Feed.STOCKS, BEGIN + 2, clock=leader.clock)
    with pytest.raises(NotRecorded, match="is damaged; the history of market has from"):
        mirror_at(playback, BEGIN + 2)
    later = mirror_at(Playback(Folder(tmp_path), Feed.STOCKS, BEGIN + 6, clock=leader.clock), BEGIN + 6)
    assert later.quotes()["AAPL"].price == 205.0
    played = all_played(tmp_path, Feed.STOCKS, BEGIN + 2, leader.clock.now)
    assert [decode_quote(batch.changes[0].quote).price for batch in batches(played)] == [203.0, 204.0, 205.0]


@pytest.mark.parametrize("raw_length", [100, 1 << 20, blocks.MAX_BLOCK_BYTES])
def test_a_block_that_unpacks_to_more_than_it_says_is_damaged(raw_length: int, tmp_path: Path) -> None:
    """A reader's memory is bounded by what the header says, and that by a constant."""
    bomb = zstandard.ZstdCompressor().compress(bytes(200 << 20))
    path = tmp_path / "bomb"
    path.write_bytes(_with_data(bomb, raw_length))
    with path.open("rb") as file:
        (block,) = blocks_of(file, 0)
        with pytest.raises(Damaged, match="another length"):
            GroupDecoder().records(file, block)


def test_a_block_larger_than_the_bound_is_no_block(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(_with_data(b"", blocks.MAX_BLOCK_BYTES + 1))
    with path.open("rb") as file:
        assert not list(blocks_of(file, 0))


def _with_data(data: bytes, raw_length: int) -> bytes:
    header = blocks._HEADER.pack(
        blocks.MARK, Kind.KEYFRAME, 0, len(data), raw_length, 1, BEGIN, BEGIN, crc32(data)
    )
    return header + struct.pack("<I", crc32(header)) + data


def test_a_moment_that_is_not_recorded_is_refused_with_what_is(tmp_path: Path) -> None:
    """Before the first record, in a gap, after the last one and in the future."""
    store, clock = Folder(tmp_path), Clock(BEGIN + 3600)
    with pytest.raises(NotRecorded, match="history of market has nothing"):
        Playback(store, Feed.STOCKS, BEGIN, clock=clock)
    for begin in (BEGIN, BEGIN + 1200):
        leader = RecordedLeader(tmp_path, clock=Clock(begin))
        leader.begin("e0", [stock("AAPL")])
        leader.stop()
    kept = "the history of market has from 2026-11-20T14:30:00.000Z to 2026-11-20T14:50:00.000Z"
    for at, problem in (
        (BEGIN - 1, "Nothing is recorded"),
        (BEGIN + 600, "Nothing is recorded"),
        (BEGIN + 1300, "Nothing is recorded"),
        (BEGIN + 3601, "in the future"),
    ):
        with pytest.raises(NotRecorded, match=problem) as refusal:
            Playback(store, Feed.STOCKS, at, clock=clock)
        assert kept in str(refusal.value)
    assert span_of(store, Feed.STOCKS) == (BEGIN, BEGIN + 1200)


def test_names_that_are_no_segments_are_not_opened(tmp_path: Path) -> None:
    """Nor do they leave the folder."""
    store = Folder(tmp_path)
    (tmp_path / "stocks").mkdir()
    (tmp_path / f"stocks/passwd{SUFFIX}").write_text("secret")
    assert store.names(Feed.STOCKS) == []
    for name in ("passwd", "../../etc/passwd", "20261120T143000.000Z-0badcafe/../x", ""):
        with pytest.raises(HistoryError):
            store.open(Feed.STOCKS, name)
        with pytest.raises(HistoryError):
            store.delete(Feed.STOCKS, name)


def test_a_playback_follows_the_open_segment_and_the_next_one(tmp_path: Path) -> None:
    """It ends where recording is, and goes on when more is recorded."""
    leader = RecordedLeader(tmp_path, Feed.CRYPTO)
    leader.begin("e0", [pair("BTC/USDT")])
    leader.write()
    playback = Playback(Folder(tmp_path), Feed.CRYPTO, BEGIN, clock=leader.clock)
    mirror = mirror_at(playback, BEGIN)
    for number in range(5):
        assert playback.read(float("inf")) == []
        assert playback.next_time() is None
        leader.clock.now += 200
        leader.publish([pair("BTC/USDT", 50.0 + number)])
        leader.write()
        for _, message in playback.read(float("inf")):
            apply_message(mirror, message)
        assert mirror.quotes() == {"BTC/USDT": pair("BTC/USDT", 50.0 + number)}
        assert mirror.mark.seq == number + 2
    assert len(Folder(tmp_path).names(Feed.CRYPTO)) == 2


def test_a_manifest_says_what_its_segment_holds(tmp_path: Path) -> None:
    """Epoch and seqs, updates, keyframes and bytes."""
    leader = RecordedLeader(tmp_path)
    leader.begin("e0", [stock("AAPL"), stock("MSFT")])
    leader.clock.now += 5
    leader.publish([stock("AAPL", 2.0), stock("MSFT", 2.0)])
    leader.begin("e1", [stock("AAPL", 3.0)])
    leader.stop()
    store = Folder(tmp_path)
    first, second = (store.manifest(Feed.STOCKS, name) for name in store.names(Feed.STOCKS))
    assert first is not None
    assert second is not None
    assert (first.epoch, first.first_seq, first.last_seq) == ("e0", 1, 2)
    assert (first.first, first.last) == (BEGIN, BEGIN + 5)
    assert (first.keyframes, first.updates, first.lost) == (1, 2, 0)
    assert first.size == store.path(Feed.STOCKS, first.segment, SUFFIX).stat().st_size
    assert (second.epoch, second.first_seq, second.last_seq, second.updates) == ("e1", 1, 1, 0)
