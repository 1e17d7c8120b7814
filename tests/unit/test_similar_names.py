"""Misspelt names among those of a request."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

import pytest

from quotecast.similar_names import MAX_NAMES, meant_name, misspelt, near_name

KNOWN = frozenset({"symbols", "interval", "limit"})
STRANGERS = [f"q{number}x" for number in range(MAX_NAMES)]


@pytest.mark.parametrize("mean", [meant_name, near_name])
def test_the_first_misspelt_name_is_found(mean: Callable[[str, AbstractSet[str]], str | None]) -> None:
    given = ["interval", "utm_source", "intervall", "limitt"]
    assert misspelt(given, KNOWN, mean) == ("intervall", "interval")


def test_only_so_many_unknown_names_are_looked_at() -> None:
    """An address may have thousands, and each takes time; known names do not count."""
    assert misspelt([*STRANGERS[1:], *KNOWN, "limitt"], KNOWN, near_name) == ("limitt", "limit")
    assert misspelt([*STRANGERS, "limitt"], KNOWN, near_name) is None
