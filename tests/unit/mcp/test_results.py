"""Results of MCP tools stay within their bounds, and say when they leave something out."""

import msgspec
import pytest

from quotecast.mcp.asking import ToolAnswer, ToolRefused
from quotecast.mcp.results import MAX_BYTES, MAX_ROWS, record, summary, table

LIVE = ToolAnswer(None, {"x-feed-state": "live"})


def test_a_small_result_is_whole() -> None:
    found = table([{"price": 1}], LIVE)
    assert (found.rows, found.total, found.cut, found.state) == ([{"price": 1}], 1, False, "live")
    assert summary(found) == "1 row."


def test_rows_beyond_the_maximum_are_left_out() -> None:
    found = table(({"n": n} for n in range(1000)), LIVE, most=1000)
    assert (len(found.rows), found.total, found.cut) == (MAX_ROWS, 1000, True)
    assert summary(found) == "200 of 1000 rows: narrow the request."


def test_rows_beyond_the_bytes_are_left_out() -> None:
    """The JSON of the rows, brackets and commas included, fits into the bound."""
    found = table(({"text": "ş" * 1000} for _ in range(100)), LIVE)
    assert 10 < len(found.rows) < 100
    assert found.cut
    assert len(msgspec.json.encode(found.rows)) <= MAX_BYTES + 1


def test_a_result_says_that_the_service_has_another_page() -> None:
    assert summary(table([{}, {}], LIVE, more=True)) == "2 rows, and there are more."


def test_a_result_names_unknown_symbols_and_a_stale_feed() -> None:
    found = table([{}], ToolAnswer(None, {"x-feed-state": "stale"}), missing=["ZZZZ"])
    assert summary(found) == "1 row; unknown: ZZZZ; the feed is stale: these are the last known values."


def test_a_record_beyond_the_bytes_is_refused() -> None:
    assert record({"text": "x"}).record == {"text": "x"}
    with pytest.raises(ToolRefused, match="more than 32 KB"):
        record({"text": "x" * MAX_BYTES})
