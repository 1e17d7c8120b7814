"""Folded text."""

import pytest

from quotecast.market.folding import fold, words_of


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("İş Bankası", "is bankasi"),
        ("IŞIK ışık", "isik isik"),
        ("ÇĞÖŞÜ çğöşü", "cgosu cgosu"),
        ("Nestlé", "nestle"),
        ("AAPL", "aapl"),
        ("ß", "ss"),
    ],
)
def test_letter_case_and_accents_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_words_with_punctuation_are_also_joined() -> None:
    assert [*words_of("coca-cola co.")] == ["coca", "cola", "cocacola", "co"]
