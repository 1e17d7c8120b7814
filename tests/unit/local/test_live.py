"""The providers that `up --live` chooses, and their description."""

import pytest

from quotecast.errors import SettingsError
from quotecast.local import live
from quotecast.settings.loading import load
from quotecast.settings.model import Settings


def chosen(**environment: str) -> Settings:
    given = {f"QUOTECAST_{name}": value for name, value in environment.items()}
    return live.choose_providers(load(given), given)


def test_what_needs_no_key_is_live() -> None:
    """Other groups are off: real and simulated groups mix only by the operator's settings."""
    assert live.describe_groups(chosen()) == [
        "stocks     off; alpaca needs QUOTECAST_ALPACA_KEY and QUOTECAST_ALPACA_SECRET",
        "crypto     live from binance, then coinbase, then kraken",
        "doviz      live from truncgil",
        "financials off; finnhub needs QUOTECAST_FINNHUB_KEY",
    ]


def test_a_key_brings_its_group() -> None:
    """Some providers need two keys."""
    keyed = chosen(ALPACA_KEY="id", ALPACA_SECRET="secret", FINNHUB_KEY="key")
    assert (keyed.stocks, keyed.financials) == ("alpaca", "finnhub")
    assert chosen(ALPACA_KEY="id").stocks == "none"


def test_what_was_chosen_by_hand_stays() -> None:
    """An explicit simulator stays."""
    mixed = chosen(STOCKS="simulator", CRYPTO="kraken", DOVIZ="none")
    assert live.describe_groups(mixed)[:3] == [
        "stocks     simulated",
        "crypto     live from kraken",
        "doviz      off",
    ]
    assert live.environment_of(mixed) == {
        "QUOTECAST_STOCKS": "simulator",
        "QUOTECAST_CRYPTO": "kraken",
        "QUOTECAST_DOVIZ": "none",
        "QUOTECAST_FINANCIALS": "none",
    }


def test_the_choice_reaches_other_processes() -> None:
    """Child processes read the same providers from their environment."""
    first = chosen()
    again = load(live.environment_of(first))
    assert [getattr(again, group) for group in ("stocks", "crypto", "doviz", "financials")] == [
        getattr(first, group) for group in ("stocks", "crypto", "doviz", "financials")
    ]


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("STOCKS", "alpacca", "there is no provider 'alpacca'; did you mean alpaca?"),
        ("CRYPTO", "binance,xyz", "there is no provider 'xyz': one of simulator, binance"),
        ("CRYPTO", "", "name a provider, or none"),
        ("CRYPTO", "binance,simulator", "simulator cannot share a feed with others"),
        ("DOVIZ", "binance", "there is no provider 'binance'"),
    ],
)
def test_an_unknown_provider_is_named(variable: str, value: str, said: str) -> None:
    with pytest.raises(SettingsError, match=f"QUOTECAST_{variable}: .*") as caught:
        load({f"QUOTECAST_{variable}": value})
    assert said in str(caught.value)
