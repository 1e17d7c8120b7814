"""Rules for names, emails and passwords."""

import pytest

from quotecast.errors import InvalidValue
from quotecast.users import rules


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


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("x@xn--mnchen-3ya.example", "x@münchen.example"),
        ("X@XN--MNCHEN-3YA.EXAMPLE", "x@münchen.example"),
        ("x@MÜNCHEN.example", "x@münchen.example"),
        ("x@xn--strae-oqa.de", "x@straße.de"),
        ("x@mail.xn--mnchen-3ya.xn--p1ai", "x@mail.münchen.рф"),
        ("xn--mnchen-3ya@example.com", "xn--mnchen-3ya@example.com"),
        ("x@xn--é.example", "x@xn--é.example"),
        ("x@xn--99999999.example", "x@xn--99999999.example"),
        ("x@xn--a-la.example", "x@xn--a-la.example"),
        ("x@xn--ib9b.example", "x@xn--ib9b.example"),
    ],
)
def test_both_forms_of_a_domain_are_one_address(text: str, stored: str) -> None:
    """Browsers write `münchen`, mail servers `xn--mnchen-3ya`; a label that is neither stays as it is."""
    assert rules.email(text) == stored
