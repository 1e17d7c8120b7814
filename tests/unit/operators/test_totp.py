"""One-time codes of operators, and the seal of their secrets."""

from typing import Final

import pytest

from quotecast.operators import totp
from quotecast.operators.errors import OperatorSessionEnded, Unsealable
from quotecast.operators.tokens import LIFETIME_SECONDS, OperatorTokens
from quotecast.operators.totp import seal, unseal

#: The secret and times of RFC 6238, appendix B, with the last six of its eight digits.
RFC_SECRET: Final = b"12345678901234567890"
RFC_CODES: Final = {
    59: "287082",
    1111111109: "081804",
    1111111111: "050471",
    1234567890: "005924",
    2000000000: "279037",
    20000000000: "353130",
}
USER: Final = "5f3a9c0e1b2d4f6a8c0e1b2d"
OTHER: Final = "5f3a9c0e1b2d4f6a8c0e1b2e"
SESSION: Final = "01a1fc87e0c47a905dd5d088"
KEY: Final = "a secret of tests, known to everybody"


@pytest.mark.parametrize(("now", "code"), RFC_CODES.items())
def test_codes_are_those_of_the_standard(now: int, code: str) -> None:
    """RFC 6238, appendix B."""
    assert totp.step_of(RFC_SECRET, code, now) == now // 30


def test_code_is_good_one_step_early_and_late() -> None:
    """Two clocks may differ by a step; a code of two steps away is wrong."""
    code = totp.code_of(RFC_SECRET, 100)
    found = [totp.step_of(RFC_SECRET, code, 30.0 * step) for step in (98, 99, 100, 101, 102)]
    assert found == [None, 100, 100, 100, None]


@pytest.mark.parametrize("code", ["", "28708", "2870820", "٢٨٧٠٨٢", "\ud800"])
def test_text_that_is_no_code_is_wrong(code: str) -> None:
    """Digits of other scripts, other lengths and lone surrogates match nothing."""
    assert totp.step_of(RFC_SECRET, code, 59) is None


def test_uri_names_service_and_user() -> None:
    """Apps for codes read the secret and the label from the URI."""
    uri = totp.uri_of(RFC_SECRET, "ayse@example.com")
    assert uri.startswith("otpauth://totp/quotecast%3Aayse%40example.com?")
    assert f"secret={totp.text_of(RFC_SECRET)}" in uri


def test_seal_opens_for_its_user_and_secret() -> None:
    """Another user's row, another secret and a damaged text do not open; a previous secret does."""
    sealed = seal(RFC_SECRET, USER, KEY)
    assert RFC_SECRET not in sealed.encode()
    assert unseal(sealed, USER, ["a newer secret", KEY]) == RFC_SECRET
    for text, user, key in (
        (sealed, OTHER, KEY),
        (sealed, USER, "another"),
        ("AAAA", USER, KEY),
        ("%", USER, KEY),
    ):
        with pytest.raises(Unsealable):
            unseal(text, user, [key])


def test_token_ends_with_its_lifetime() -> None:
    """A token is good for LIFETIME_SECONDS, under the secret that signed it or as the previous one."""
    now = 1_800_000_000.0
    token = OperatorTokens([KEY], lambda: now).issue(USER, SESSION)
    claims = OperatorTokens(["newer", KEY], lambda: now).read(token)
    assert (claims.sub, claims.sid) == (USER, SESSION)
    for keys, time in (([KEY], now + LIFETIME_SECONDS), (["newer"], now), ([KEY], now - 3600)):
        with pytest.raises(OperatorSessionEnded):
            OperatorTokens(keys, lambda time=time: time).read(token)  # type: ignore[misc]  # a default
