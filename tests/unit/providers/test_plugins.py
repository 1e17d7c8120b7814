"""Providers that other packages add."""

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from quotecast.errors import SettingsError
from quotecast.market.feeds import Feed
from quotecast.providers import plugins
from quotecast.providers.base import unlimited
from quotecast.providers.offer import Budgets, Offer, Terms
from quotecast.providers.offers import offer_of, terms_of
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.settings.loading import load


class AcmeSettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_ACME_*`."""

    seed: Annotated[int, Meta(ge=1, description="Seed")] = 1
    key: str = ""


def quotes(settings: AcmeSettings, _budgets: Budgets) -> SimulatorProvider:
    return SimulatorProvider(Feed.DOVIZ, seed=settings.seed, rate=1.0, speed=1.0, always_open=True)


#: What an entry point of the test names.
TERMS = Terms(show="no", source="https://acme.example/terms", read="2026-11-20", summary="for you alone")
OFFER = Offer(settings=AcmeSettings, keys=("key",), terms={"acme": TERMS}, quotes={Feed.DOVIZ: quotes})
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
    """The list has broken packages too: choosing one raises the error."""
    assert plugins.names() == ["acme", "gone", "odd"]


def test_an_offer_makes_providers_from_its_own_settings(tmp_path: Path) -> None:
    """They are read and checked with the service's own; a file may hold a key."""
    (tmp_path / "key").write_text("secret\n")
    settings = load(
        {
            "QUOTECAST_DOVIZ": "acme",
            "QUOTECAST_ACME_SEED": "7",
            "QUOTECAST_ACME_KEY_FILE": str(tmp_path / "key"),
        }
    )
    assert settings.own["acme"] == AcmeSettings(seed=7, key="secret")
    provider = offer_of("acme").quotes[Feed.DOVIZ](settings.own["acme"], lambda *_: unlimited)
    assert (provider.name, provider.feed) == ("simulator", Feed.DOVIZ)


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({"DOVIZ": "acme", "ACME_SEED": "0"}, "QUOTECAST_ACME_SEED: must be a whole number of 1 or more"),
        ({"STOCKS": "acme"}, "QUOTECAST_STOCKS: the provider acme has nothing for stocks"),
        ({"DOVIZ": "gone"}, "The provider gone cannot be loaded: .*no_such_package"),
        ({"DOVIZ": "odd"}, "The provider odd is not a quotecast.providers.offer.Offer"),
    ],
)
def test_a_chosen_package_that_cannot_serve_is_named(environment: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        load({f"QUOTECAST_{name}": value for name, value in environment.items()})


def test_a_package_has_the_terms_that_it_states() -> None:
    """A broken package and one that is missing have none; neither is an error."""
    terms_of.cache_clear()
    assert [terms_of(name) for name in ("acme", "gone", "missing")] == [TERMS, None, None]
    terms_of.cache_clear()


def test_a_misspelled_setting_of_a_package_is_named() -> None:
    """Only variables that begin with a package's name may be the package's."""
    with pytest.raises(SettingsError, match="QUOTECAST_ACNE_KEY: there is no such setting"):
        load({"QUOTECAST_ACNE_KEY": "x"})
