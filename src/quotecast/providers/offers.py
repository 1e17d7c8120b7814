"""The table of upstreams: those that come with the service, and those that packages add."""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from quotecast.providers import plugins
from quotecast.providers.alpaca import offer as alpaca
from quotecast.providers.binance import offer as binance
from quotecast.providers.coinbase import offer as coinbase
from quotecast.providers.finnhub import offer as finnhub
from quotecast.providers.history import offer as history
from quotecast.providers.kraken import offer as kraken
from quotecast.providers.offer import Offer, Terms
from quotecast.providers.quotecast import offer as quotecast
from quotecast.providers.replay import offer as replay
from quotecast.providers.simulator import offer as simulator
from quotecast.providers.tcmb import offer as tcmb
from quotecast.providers.truncgil import offer as truncgil

BUILT_IN: Final[Mapping[str, Offer[Any]]] = {
    "simulator": simulator.OFFER,
    "alpaca": alpaca.OFFER,
    "binance": binance.OFFER,
    "coinbase": coinbase.OFFER,
    "kraken": kraken.OFFER,
    "replay": replay.OFFER,
    "history": history.OFFER,
    "truncgil": truncgil.OFFER,
    "tcmb": tcmb.OFFER,
    "finnhub": finnhub.OFFER,
    "quotecast": quotecast.OFFER,
}

#: What the terms allow, by the `provider` that quotes name; one offer may have several.
TERMS: Final[Mapping[str, Terms]] = {
    name: terms for offer in BUILT_IN.values() for name, terms in offer.terms.items()
}

#: The setting of a group without a provider.
NONE: Final = "none"


def offer_of(name: str) -> Offer[Any]:
    """Returns what a provider offers. Raises PluginBroken for a package that cannot be loaded."""
    return BUILT_IN[name] if name in BUILT_IN else plugins.load(name)


@lru_cache(maxsize=64)
def terms_of(name: str) -> Terms | None:
    """Returns what the terms of a provider allow; None where its package does not say so."""
    if name in TERMS:
        return TERMS[name]
    with suppress(plugins.PluginBroken):
        return plugins.load(name).terms.get(name)
    return None


def built_in(group: str) -> list[str]:
    """Returns the names of the providers of a group that come with the service, and `none`."""
    return [*(name for name, offer in BUILT_IN.items() if offer.serves(group)), NONE]


def live_names(group: str) -> list[str]:
    """Returns the providers of a group that `up --live` chooses; each is the fallback of the one before."""
    return [name for name, offer in BUILT_IN.items() if offer.live and offer.serves(group)]
