"""Providers that other packages add."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from quotecast.market.feeds import Feed
from quotecast.providers import plugins
from quotecast.providers.plugins import Offer, PluginBroken
from quotecast.providers.simulator.client import SimulatorProvider

#: What an entry point of the test names.
OFFER = Offer(
    quotes={
        Feed.DOVIZ: lambda values: SimulatorProvider(
            Feed.DOVIZ, seed=int(values["seed"]), rate=1.0, speed=1.0, always_open=True
        )
    }
)
NONSENSE = object()


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three packages: a good one, one that is not there any more, one that offers nothing."""
    targets = {
        "acme": f"{__name__}:OFFER",
        "gone": "no_such_package:OFFER",
        "odd": f"{__name__}:NONSENSE",
    }
    entries = {name: EntryPoint(name, target, plugins.GROUP) for name, target in targets.items()}
    monkeypatch.setattr(plugins, "_entries", lambda: entries)
    monkeypatch.setitem(__import__("sys").modules, __name__, _this())


def _this() -> Any:
    """This module, under the name that entry points know: the test runner does not list it."""
    module = type("Module", (), {"OFFER": OFFER, "NONSENSE": NONSENSE})
    module.__name__ = __name__
    return module


def test_installed_providers_are_named_without_loading_them() -> None:
    """Also those that cannot be loaded: whoever chooses one is told then."""
    assert plugins.names() == ["acme", "gone", "odd"]


def test_an_offer_makes_providers_from_its_own_settings() -> None:
    """By what follows its name, in lower case."""
    values = plugins.values(
        "acme", {"QUOTECAST_ACME_SEED": "7", "QUOTECAST_PORT": "1", "QUOTECAST_ACMEX_A": "2"}
    )
    assert values == {"seed": "7"}
    provider = plugins.offer("acme").quotes[Feed.DOVIZ](values)
    assert (provider.name, provider.feed) == ("simulator", Feed.DOVIZ)


@pytest.mark.parametrize("name", ["gone", "odd"])
def test_a_broken_package_is_named(name: str) -> None:
    with pytest.raises(PluginBroken, match=f"The provider {name} "):
        plugins.offer(name)
