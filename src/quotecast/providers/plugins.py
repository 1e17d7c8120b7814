"""Providers that other packages add: docs/providers.md tells how."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from msgspec import Struct

from quotecast.errors import QuotecastError
from quotecast.market.feeds import Feed
from quotecast.providers.base import (
    AssetsProvider,
    FinancialsProvider,
    HistoryProvider,
    NewsProvider,
    QuoteProvider,
)

#: A package names its offer there: `[project.entry-points."quotecast.providers"]`.
GROUP: Final = "quotecast.providers"

#: A package's own settings: the variables QUOTECAST_<NAME>_*, by what follows, in lower case.
Values = Mapping[str, str]


class PluginBroken(QuotecastError):
    """A package's provider cannot be loaded, or offers what it is not asked for."""

    code = "plugin"


class Offer(Struct, frozen=True, kw_only=True):
    """What a package provides; each is made from the package's own settings when a process starts."""

    quotes: Mapping[Feed, Callable[[Values], QuoteProvider]] = {}
    history: Mapping[Feed, Callable[[Values], HistoryProvider]] = {}
    news: Callable[[Values], NewsProvider] | None = None
    assets: Callable[[Values], AssetsProvider] | None = None
    financials: Callable[[Values], FinancialsProvider] | None = None


def names() -> list[str]:
    """The providers that installed packages add."""
    return sorted(_entries())


def offer(name: str) -> Offer:
    """What a package provides. Raises PluginBroken."""
    try:
        found = _entries()[name].load()
    except Exception as error:
        raise PluginBroken(f"The provider {name} cannot be loaded: {error!r}") from error
    if not isinstance(found, Offer):
        raise PluginBroken(f"The provider {name} is no quotecast.providers.plugins.Offer")
    return found


def values(name: str, environment: Mapping[str, str]) -> Values:
    """The package's own settings."""
    prefix = f"QUOTECAST_{name.upper()}_"
    return {
        variable.removeprefix(prefix).lower(): value
        for variable, value in environment.items()
        if variable.startswith(prefix)
    }


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
