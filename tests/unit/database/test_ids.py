"""Ids of users and holdings."""

import re

from hypothesis import given
from hypothesis import strategies as st

from quotecast.database.ids import new_id

MOMENTS = st.integers(0, 2**47).map(lambda milliseconds: milliseconds / 1000)


@given(MOMENTS)
def test_an_id_is_24_hexadecimal_digits(moment: float) -> None:
    """They are in lower case, as the tables demand."""
    assert re.fullmatch("[0-9a-f]{24}", new_id(lambda: moment))


@given(MOMENTS, st.floats(0.0011, 1e9), st.binary(min_size=6, max_size=6), st.binary(min_size=6, max_size=6))
def test_later_ids_are_greater(moment: float, later: float, one: bytes, other: bytes) -> None:
    """A millisecond decides, whatever the random bits are."""
    assert new_id(lambda: moment, lambda _: one) < new_id(lambda: moment + later, lambda _: other)


def test_ids_of_one_moment_differ() -> None:
    """They differ by their random bits."""
    assert len({new_id(lambda: 1.0) for _ in range(1000)}) == 1000
