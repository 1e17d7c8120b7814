"""Rules for names, emails and passwords."""

import pytest

from quotecast.accounts import rules
from quotecast.errors import InvalidValue


@pytest.mark.parametrize("rule", [rules.email, rules.lower_email, rules.password])
def test_a_long_text_is_cut_before_it_is_composed(rule: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Composing takes quadratic time: 80 KB of combining marks would block a worker for seconds."""
    lengths: list[int] = []

    def compose(text: str) -> str:
        lengths.append(len(text))
        return text

    monkeypatch.setattr(rules, "compose", compose)
    with pytest.raises(InvalidValue):
        rule("\u0300\u0323" * 20_000)  # type: ignore[operator]  # each of them takes a text
    assert max(lengths) <= 4 * rules.MAX_EMAIL + 1


def test_an_email_of_the_longest_form_is_taken() -> None:
    """Its length before composition does not matter."""
    address = "e\u0301" * 200 + "@example.com"
    assert rules.email(address) == "é" * 200 + "@example.com"
