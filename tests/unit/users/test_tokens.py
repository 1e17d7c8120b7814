"""Tokens: valid ones, forged ones and expired ones."""

import sys
from collections.abc import Callable
from unittest.mock import Mock

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.database.ids import new_id
from quotecast.errors import InvalidToken
from quotecast.users import tokens as module
from quotecast.users.tokens import MAX_TOKEN_LENGTH, Tokens
from support.made.forged_tokens import FORGERIES, ValidToken, split_token

SECRET = "one secret, long enough for a signature"
NEWER = "another secret, long enough for a signature"
USER = "019a9c3f5b2d4f6a8c0e1b2d"
SESSION = "019a9c3f5b2d4f6a8c0e1b2e"
NOW = 1_795_188_600.0
WEEK = 7 * 86_400


def tokens_of(*keys: str, clock: Callable[[], float] = lambda: NOW) -> Tokens:
    return Tokens(keys or [SECRET], lifetime_seconds=WEEK, clock=clock)


def text_of(forgery: Callable[[ValidToken], str | bytes]) -> str:
    """Returns a forged token as a client would send it."""
    forged = forgery(split_token(tokens_of().issue(USER, 0, SESSION), SECRET))
    return forged if isinstance(forged, str) else forged.decode("latin-1")


@given(st.integers(0, 2**47).map(lambda moment: new_id(lambda: moment / 1000)), st.integers(0, 2**31))
def test_a_token_says_whose_it_is_and_until_when(user_id: str, version: int) -> None:
    """`read` returns the claims that `issue` wrote."""
    tokens = tokens_of()
    claims = tokens.read(tokens.issue(user_id, version, SESSION))
    assert (claims.sub, claims.ver, claims.iat, claims.exp) == (user_id, version, NOW, NOW + WEEK)


def test_tokens_of_one_moment_differ() -> None:
    """Each token has its own id."""
    tokens = tokens_of()
    assert tokens.issue(USER, 0, SESSION) != tokens.issue(USER, 0, SESSION)


def test_a_token_has_the_claims_of_the_standard_and_names_its_key() -> None:
    """Claims are `sub`, `iat`, `exp`, `jti`, `ver` and `sid`; the header has HS256 and an id of the key."""
    header, claims, _ = split_token(tokens_of().issue(USER, 3, SESSION), SECRET)
    assert sorted(claims) == ["exp", "iat", "jti", "sid", "sub", "ver"]
    assert header["alg"] == "HS256"
    assert header["kid"]
    assert header["kid"] not in SECRET


def test_a_token_decoded_and_signed_again_is_valid() -> None:
    """This proves that each forgery below fails for its own defect."""
    good = split_token(tokens_of().issue(USER, 0, SESSION), SECRET)
    assert {tokens_of().read(token).sub for token in (good.sign(), good.with_header())} == {USER}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_token_is_invalid(name: str) -> None:
    """Every forgery raises the same error."""
    with pytest.raises(InvalidToken):
        tokens_of().read(text_of(FORGERIES[name]))


def test_a_header_that_nests_deeply_is_invalid_deep_in_a_call() -> None:
    """The JSON parser meets its recursion limit when the stack is already half full."""

    def deeper(left: int) -> None:
        if left:
            deeper(left - 1)
        else:
            tokens_of().read(text_of(FORGERIES["a header that nests deeply"]))

    with pytest.raises(InvalidToken):
        deeper(sys.getrecursionlimit() // 2)


@given(st.data())
def test_a_token_with_another_character_is_invalid(data: st.DataObject) -> None:
    """The last character is an exception: some of its bits carry no data."""
    token = tokens_of().issue(USER, 0, SESSION)
    position = data.draw(st.integers(0, len(token) - 2))
    letters = st.sampled_from("ABCXYZabcxyz0189").filter(lambda letter: letter != token[position])
    with pytest.raises(InvalidToken):
        tokens_of().read(token[:position] + data.draw(letters) + token[position + 1 :])


def test_a_token_that_is_cut_anywhere_is_invalid() -> None:
    """Every prefix and every suffix is invalid."""
    token = tokens_of().issue(USER, 0, SESSION)
    tokens = tokens_of()
    for position in range(1, len(token)):
        for piece in (token[:position], token[position:]):
            with pytest.raises(InvalidToken):
                tokens.read(piece)


@given(st.text())
def test_any_text_is_invalid(text: str) -> None:
    """No other exception escapes."""
    with pytest.raises(InvalidToken):
        tokens_of().read(text)


def test_a_token_of_ours_is_far_from_too_long() -> None:
    """The length limit only affects foreign tokens."""
    assert len(tokens_of().issue("f" * 24, 2**31, "f" * 24)) < MAX_TOKEN_LENGTH // 2


def test_a_replaced_secret_lets_in_until_it_is_dropped() -> None:
    """The first secret signs, all secrets verify, a removed one does not."""
    older, both, newer = tokens_of(SECRET), tokens_of(NEWER, SECRET), tokens_of(NEWER)
    old, new = older.issue(USER, 0, SESSION), both.issue(USER, 0, SESSION)
    assert both.read(old).sub == both.read(new).sub == newer.read(new).sub == USER
    with pytest.raises(InvalidToken):
        newer.read(old)
    with pytest.raises(InvalidToken):
        older.read(new)


def test_a_token_ends_on_time_also_when_it_is_remembered() -> None:
    """A token is valid up to the second before its expiry, cached or not."""
    moments = [NOW]
    tokens = tokens_of(clock=lambda: moments[-1])
    token = tokens.issue(USER, 0, SESSION)
    for moment in (NOW, NOW + WEEK - 0.001):
        moments.append(moment)
        assert tokens.read(token).sub == USER
    for moment in (NOW + WEEK, NOW + 2 * WEEK):
        moments.append(moment)
        with pytest.raises(InvalidToken):
            tokens.read(token)


def test_another_workers_clock_may_be_a_minute_ahead() -> None:
    """A login at another worker is valid here at once."""
    ahead, behind = tokens_of(clock=lambda: NOW + 60), tokens_of()
    assert behind.read(ahead.issue(USER, 0, SESSION)).sub == USER


def test_a_signature_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second read costs only a dictionary look-up."""
    decode = Mock(wraps=jwt.api_jws.decode)
    monkeypatch.setattr(jwt.api_jws, "decode", decode)
    tokens = tokens_of()
    token = tokens.issue(USER, 0, SESSION)
    assert len({tokens.read(token) for _ in range(5)}) == 1
    assert decode.call_count == 1


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many logins do not fill the memory; invalid tokens take no memory."""
    monkeypatch.setattr(module, "MAX_REMEMBERED", 3)
    tokens = tokens_of()
    for _ in range(10):
        tokens.read(tokens.issue(USER, 0, SESSION))
    assert len(tokens._claims) == 3
    for forgery in FORGERIES.values():
        with pytest.raises(InvalidToken):
            tokens.read(text_of(forgery))
    assert len(tokens._claims) <= 3


def test_nothing_that_is_shown_holds_the_secret() -> None:
    """Neither a token object in a log nor the key's id contains the secret."""
    tokens = tokens_of()
    shown = f"{tokens!r} {split_token(tokens.issue(USER, 0, SESSION), SECRET).header}"
    assert not any(piece in shown for piece in (SECRET, SECRET[:12], SECRET[-12:]))
