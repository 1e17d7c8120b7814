"""Providers that other packages add: see docs/providers.md."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from quotecast.errors import QuotecastError
from quotecast.providers.offer import Offer

#: The entry point of a package's offer: `[project.entry-points."quotecast.providers"]`.
GROUP: Final = "quotecast.providers"


class PluginBroken(QuotecastError):
    """A package's provider cannot be loaded, or is not an Offer."""

    code = "plugin"


def names() -> list[str]:
    """Returns the names of the providers that installed packages add."""
    return sorted(_entries())


def load(name: str) -> Offer[Any]:
    """Returns the offer of a package. Raises PluginBroken."""
    try:
        offer = _entries()[name].load()
    except Exception as error:
        raise PluginBroken(f"The provider {name} cannot be loaded: {error!r}") from error
    if not isinstance(offer, Offer):
        raise PluginBroken(f"The provider {name} is not a quotecast.providers.offer.Offer")
    return offer


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
