"""Bars on the wire."""

import msgspec

from quotecast.market.bars import Bar


def test_a_bar_is_answered_with_the_public_field_names() -> None:
    bar = Bar(time="2026-01-02T14:30:00Z", open=1.5, high=2.5, low=1.25, close=2.0, volume=300.0)
    assert msgspec.json.decode(msgspec.json.encode(bar)) == {
        "time": "2026-01-02T14:30:00Z",
        "open": 1.5,
        "high": 2.5,
        "low": 1.25,
        "close": 2.0,
        "volume": 300.0,
    }
