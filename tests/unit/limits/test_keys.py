"""Names of rate-limit keys in Redis."""

import pytest

from quotecast.limits.calls import MAX_KEY_LENGTH, SHARDS, KeyNames, hash_tag

NAMES = KeyNames("t")


def test_a_plain_key_is_legible_behind_its_tag() -> None:
    """Redis's access rules go by the prefix, a cluster by the tag in braces."""
    name = NAMES.name_of("market 192.0.2.1")
    assert name.startswith(b"t:{limits:")
    assert name.endswith(b"}:market 192.0.2.1")
    assert hash_tag(name) == name[: len(b"t:{limits:00")]


@pytest.mark.parametrize("key", ["x" * (MAX_KEY_LENGTH + 1), "gümüş", "\ud800"])
def test_a_long_key_or_one_beyond_ascii_appears_as_its_digest(key: str) -> None:
    """Two such keys have two names."""
    name = NAMES.name_of(key)
    assert len(name) == len(b"t:{limits:00}:") + 32
    assert name != NAMES.name_of(key + "y")


def test_keys_spread_over_all_shards() -> None:
    """A cluster can then share their load."""
    assert len({hash_tag(NAMES.name_of(str(number))) for number in range(500)}) == SHARDS
