"""Codes of currencies and of their minor units."""

import pytest

from quotecast.market.currencies import CURRENCIES, major_of


@pytest.mark.parametrize(
    ("unit", "currency"),
    [
        ("GBp", "GBP"),
        ("ZAc", "ZAR"),
        ("ILa", "ILS"),
        ("USd", "USD"),
        ("GBX", "GBP"),
        ("zac", "ZAR"),
        ("ILA", "ILS"),
    ],
)
def test_a_minor_unit_has_a_currency(unit: str, currency: str) -> None:
    assert major_of(unit) == currency


def test_no_currency_is_a_minor_unit() -> None:
    """In any letter case but that of minor units."""
    for code in CURRENCIES:
        assert major_of(code) is major_of(code.lower()) is major_of(code.title()) is None


@pytest.mark.parametrize("text", ["", "p", "XXx", "pounds", "GB", "ÄBc"])
def test_other_texts_are_none(text: str) -> None:
    assert major_of(text) is None
