"""Keys for some symbols: they open the routes that name symbols, and nothing that shows others."""

from collections.abc import Iterable, Sequence

from quotecast.access.errors import OutOfScope
from quotecast.feed.mirror import Mirror


def require_symbols(names: Sequence[str], only: Iterable[str], mirror: Mirror | None) -> None:
    """Raises OutOfScope unless a request names only symbols, or members of groups, that a key is for."""
    if not names or mirror is None or not _are_within(names, only, mirror):
        raise OutOfScope("This API key is for some symbols, and this request shows others")


def _are_within(names: Iterable[str], only: Iterable[str], mirror: Mirror) -> bool:
    mine = [name for name in only if ":" not in name]
    groups = [mirror.group(name) for name in only if ":" in name]
    keys = frozenset(filter(None, [*mirror.keys_named(mine).values(), *groups]))
    allowed = mirror.keys_of(keys)
    return all(key is not None and key in allowed for key in mirror.keys_named(names).values())
