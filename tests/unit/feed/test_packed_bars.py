"""Final bars in columns."""

import pytest

from quotecast.feed.bars import PackedBars, packed
from quotecast.market.own_bars import Closing, OwnBar

BARS = {
    "AAPL": OwnBar(1_763_640_000, 0.1, 0.3, 0.1, 0.2, 12_345.678, 84),
    "USD": OwnBar(1_763_640_060, 41.0, 42.5, 40.25, 41.125, None, 2**31),
}


def test_packed_bars_are_the_bars() -> None:
    """Every value comes back bit for bit, an unknown volume as None."""
    found = PackedBars(BARS)
    assert found == BARS
    assert [*found.items()] == [*BARS.items()]
    assert found.get("MSFT") is None
    with pytest.raises(KeyError):
        found["MSFT"]


def test_packed_closing_equals_the_closing() -> None:
    closing = Closing(1_763_640_060, {"1m": BARS, "D": {}}, {"D": (0, 86_400)})
    assert packed(closing) == closing
    assert packed(closing, packed(closing)) == closing


@pytest.mark.parametrize("others", [{}, {"AAPL": BARS["AAPL"]}, {"USD": BARS["USD"], "AAPL": BARS["AAPL"]}])
def test_other_symbols_than_before_are_their_own(others: dict[str, OwnBar]) -> None:
    """Mappings share their places only with equal symbols in equal order."""
    assert PackedBars(others, PackedBars(BARS)) == others
    assert PackedBars(BARS, PackedBars(others)) == BARS
