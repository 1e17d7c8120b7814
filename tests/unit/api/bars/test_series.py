"""Series of bars: encoded and compressed once for many answers."""

import gzip
import zlib
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.api.bars.series import decode, document, encode, series_of
from quotecast.market.bars import Bar, bar_time


def bars(count: int, first: int = 0) -> list[Bar]:
    start = datetime(2026, 11, 20, 14, 30, tzinfo=UTC) + timedelta(minutes=first)
    return [
        Bar(bar_time(start + timedelta(minutes=n)), 10.0 + n, 11.0 + n, 9.0, 10.5, 1000.25)
        for n in range(count)
    ]


def answered(body: bytes) -> list[Bar]:
    return msgspec.json.decode(body, type=list[Bar])


@given(st.integers(0, 40), st.integers(0, 2))
def test_an_answer_is_the_closed_bars_and_the_tail(count: int, more: int) -> None:
    """An answer is the closed bars and the tail, plain or compressed."""
    history, tail = bars(count), bars(more, first=count)
    tail = history[-2:] + tail
    made = document(decode(encode(series_of(history))), tail)
    assert answered(made.body) == history[:-2] + tail
    assert gzip.decompress(made.gzipped) == made.body


@given(st.integers(1, 40), st.integers(0, 2), st.integers(1, 45))
def test_answer_has_only_the_newest_bars(count: int, more: int, limit: int) -> None:
    history = bars(count)
    tail = history[-2:] + bars(more, first=count)
    made = document(series_of(history), tail, limit)
    assert answered(made.body) == (history[:-2] + tail)[-limit:]
    assert gzip.decompress(made.gzipped) == made.body


def test_compressed_bars_are_one_plain_member() -> None:
    """A compressed answer is one gzip member, because browsers read only the first."""
    made = document(series_of(bars(200)), bars(2, first=198))
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert reader.decompress(made.gzipped) == made.body
    assert (reader.eof, reader.unused_data) == (True, b"")
    assert len(made.gzipped) < len(made.body) / 3


def test_closed_bars_are_not_compressed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer compresses its tail only."""
    stored = decode(encode(series_of(bars(2000))))
    lengths: list[int] = []
    real = zlib.compressobj

    class Counting:
        def __init__(self, level: int, method: int, window_bits: int) -> None:
            self._real = real(level, method, window_bits)

        def compress(self, data: bytes) -> bytes:
            lengths.append(len(data))
            return self._real.compress(data)

        def flush(self) -> bytes:
            return self._real.flush()

    monkeypatch.setattr(zlib, "compressobj", Counting)
    made = document(stored, bars(2, first=1998))
    assert gzip.decompress(made.gzipped) == made.body
    assert lengths == [len(made.body) - len(stored.head)]


def test_the_tag_tells_contents_apart() -> None:
    """The tag depends on the tail and on the closed bars."""
    one, other = series_of(bars(20)), series_of(bars(21)[1:])
    tail = bars(1, first=30)
    tags = {
        document(one, tail).tag,
        document(one, bars(2, first=30)).tag,
        document(other, tail).tag,
        document(one, tail, limit=10).tag,
    }
    assert len(tags) == 4
    assert document(series_of(bars(20)), tail).tag == document(one, tail).tag


def test_the_kept_form_survives_the_cache() -> None:
    stored = series_of(bars(3))
    assert decode(encode(stored)) == stored
