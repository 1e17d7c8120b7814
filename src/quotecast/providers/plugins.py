"""Providers that other packages add: docs/providers.md tells how."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from quotecast.errors import QuotecastError
from quotecast.providers.offer import Offer

#: A package names its offer there: `[project.entry-points."quotecast.providers"]`.
GROUP: Final = "quotecast.providers"


class PluginBroken(QuotecastError):
    """A package's provider cannot be loaded, or offers what it is not asked for."""

    code = "plugin"


def names() -> list[str]:
    """The providers that installed packages add."""
    return sorted(_entries())


def load(name: str) -> Offer:
    """What a package provides. Raises PluginBroken."""
    try:
        found = _entries()[name].load()
    except Exception as error:
        raise PluginBroken(f"The provider {name} cannot be loaded: {error!r}") from error
    if not isinstance(found, Offer):
        raise PluginBroken(f"The provider {name} is no quotecast.providers.offer.Offer")
    return found


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
