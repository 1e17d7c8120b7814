"""The search for stocks by ticker and name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.assets import Asset, index_assets, search_assets
from support.made.documents import asset

ASSETS = [
    asset("A", "Agilent Technologies, Inc."),
    asset("AAPL", "Apple Inc."),
    asset("APLE", "Apple Hospitality REIT, Inc."),
    asset("MA", "Mastercard Incorporated"),
    asset("NSRGY", "Nestlé S.A."),
    asset("SHW", "The Sherwin-Williams Company"),
    asset("ISB", "İş Bankası"),
]

texts = st.text(max_size=6) | st.sampled_from(["a", "inc", "İ", "ß", "\u0301", "ﬁ"])


def found(text: str) -> list[str]:
    return [each.ticker for each in search_assets(index_assets(ASSETS), text)]


@pytest.mark.parametrize(
    ("text", "tickers"),
    [
        ("a", ["A", "AAPL", "APLE", "MA", "NSRGY", "SHW", "ISB"]),
        ("ap", ["APLE", "AAPL"]),
        ("aapl", ["AAPL"]),
        (" APPLE ", ["AAPL", "APLE"]),
        ("ma", ["MA"]),
        ("sherwin-w", ["SHW"]),
        ("nestle", ["NSRGY"]),
        ("NESTLÉ", ["NSRGY"]),
        ("iş ban", ["ISB"]),
        ("pl", ["AAPL", "APLE"]),
        ("xyz", []),
    ],
)
def test_tickers_are_found_before_names(text: str, tickers: list[str]) -> None:
    """Tickers match by prefix, then names by any part; case and accents do not matter."""
    assert found(text) == tickers


@given(texts)
def test_nobody_is_found_twice(text: str) -> None:
    """No stock appears twice; matches by ticker and matches by name each stay in index order."""
    tickers = found(text)
    assert len(set(tickers)) == len(tickers)


@given(st.sampled_from(ASSETS), st.integers(1, 6))
def test_every_beginning_of_a_ticker_finds_it(wanted: Asset, length: int) -> None:
    assert wanted.ticker in found(wanted.ticker[:length].lower())


@given(st.sampled_from(ASSETS), st.integers(0, 20), st.integers(1, 20))
def test_every_part_of_a_name_finds_it(wanted: Asset, start: int, length: int) -> None:
    """Letter case does not matter."""
    part = wanted.name[start : start + length]
    assert wanted.ticker in found(part.upper())
    assert wanted.ticker in found(part.casefold())
