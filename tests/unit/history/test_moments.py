"""Moments and speeds as clients write them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.errors import InvalidValue
from quotecast.history.moments import parse_moment
from quotecast.stream.queries import replay_of
from quotecast.stream.replay import parse_speed


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20T14:31:00Z",
        "2026-11-20T17:31:00+03:00",
        "2026-11-20T17:31:00 03:00",
        "2026-11-20T14:31:00.000000+00:00",
        "1795185060",
        "1795185060.000",
    ],
)
def test_a_moment_has_several_spellings(text: str) -> None:
    """A plus sign in an address arrives as a space."""
    assert parse_moment("at", text) == 1_795_185_060.0


@given(text=st.text() | st.datetimes().map(str) | st.floats().map(str) | st.integers().map(str))
def test_any_text_is_a_moment_or_refused(text: str) -> None:
    """No other error, and no moment that is no number."""
    with contextlib.suppress(InvalidValue):
        assert abs(parse_moment("at", text)) < 1e12


@given(text=st.text() | st.floats().map(str))
def test_any_text_is_a_speed_within_the_bounds_or_refused(text: str) -> None:
    """Infinite and negative ones are refused."""
    with contextlib.suppress(InvalidValue):
        assert 0.1 <= parse_speed(text) <= 100


@given(query=st.binary())
def test_any_query_is_read(query: bytes) -> None:
    """As a replay or as the live feed."""
    replay_of(query)
    replay_of(b"at=" + query)


def test_a_query_without_at_is_live() -> None:
    """Whatever its other parameters."""
    assert replay_of(b"symbols=all&speed=10&format=x") is None
    assert replay_of(b"symbols=all&at=5&speed=10") == ("5", "10")
    assert replay_of(b"symbols=all&%61t=5") == ("5", None)
