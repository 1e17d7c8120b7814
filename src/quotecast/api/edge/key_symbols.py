"""Keys for some symbols: they open the routes that name symbols, and nothing that shows others."""

from collections.abc import Iterable, Sequence

from quotecast.access.errors import OutOfScope
from quotecast.feed.mirror import Mirror


def require_symbols(names: Sequence[str], only: Iterable[str], mirror: Mirror | None) -> None:
    """Raises OutOfScope unless a request names only symbols, or members of groups, that a key is for."""
    if names and mirror is not None and mirror.scope_of(only).issuperset(mirror.keys_named(names).values()):
        return
    raise OutOfScope("This API key is limited to certain symbols; this request returns others")
