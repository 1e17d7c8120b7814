"""Settings of an installation that follows another one."""

import argparse

import pytest

from quotecast.api.edge import main as edge_worker
from quotecast.errors import SettingsError
from quotecast.ingest.sources import followed_feeds
from quotecast.local.live import describe_groups
from quotecast.market.feeds import Feed
from quotecast.settings.loading import load

ORIGIN = {"QUOTECAST_ORIGIN": "wss://quotes.example.com", "QUOTECAST_ORIGIN_SECRET": "secret-of-tests"}
#: What production asks of every installation.
PRODUCTION = {
    "QUOTECAST_MODE": "production",
    "QUOTECAST_DATABASE_URL": "postgresql://db/quotecast",
    "QUOTECAST_REDIS_URL": "redis://redis",
}


def problems(environment: dict[str, str], *, needs_servers: bool = True) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(environment, needs_servers=needs_servers)
    return str(caught.value).splitlines()


def test_each_feed_is_followed_by_itself() -> None:
    """The others have their own upstreams."""
    settings = load({**ORIGIN, "QUOTECAST_STOCKS": "quotecast", "QUOTECAST_CRYPTO": "binance,kraken"})
    assert followed_feeds(settings) == [Feed.STOCKS]
    assert describe_groups(settings)[0].endswith("followed from wss://quotes.example.com")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"QUOTECAST_STOCKS": "quotecast"},
            [
                (
                    "QUOTECAST_ORIGIN: QUOTECAST_STOCKS=quotecast follows an installation: name it, such as"
                    " wss://quotes.example.com"
                ),
                "QUOTECAST_ORIGIN_SECRET: give the QUOTECAST_RELAY_SECRET of the origin",
            ],
        ),
        (
            {**ORIGIN, "QUOTECAST_CRYPTO": "quotecast,binance"},
            ["QUOTECAST_CRYPTO: quotecast cannot share a feed with others"],
        ),
        (
            {**ORIGIN, "QUOTECAST_ORIGIN": "https://quotes.example.com"},
            [
                (
                    "QUOTECAST_ORIGIN: must begin with wss:// or ws://, and have a host and maybe a port, but"
                    " no path"
                )
            ],
        ),
        (
            {**ORIGIN, "QUOTECAST_ORIGINS": "wss://quotes.example.com"},
            ["QUOTECAST_ORIGINS: there is no such setting; did you mean QUOTECAST_ORIGIN?"],
        ),
    ],
)
def test_what_is_missing_or_wrong_is_named(given: dict[str, str], said: list[str]) -> None:
    """With the remedy."""
    assert problems(given) == said


def test_company_data_needs_no_secret() -> None:
    """They come by the public routes."""
    settings = load({"QUOTECAST_FINANCIALS": "quotecast", "QUOTECAST_ORIGIN": "wss://quotes.example.com"})
    assert settings.providers_of("financials") == ("quotecast",)


@pytest.mark.parametrize(
    "origin", ["ws://127.0.0.1:8000", "ws://localhost", "ws://[::1]:1", "wss://a.example"]
)
def test_production_sends_the_secret_encrypted_or_not_at_all(origin: str) -> None:
    """Loopback addresses never leave the machine."""
    assert load({**PRODUCTION, **ORIGIN, "QUOTECAST_ORIGIN": origin}).origin == origin


@pytest.mark.parametrize(
    "origin", ["ws://quotes.example.com", "ws://10.1.2.3:8000", "ws://127.0.0.1.example"]
)
def test_production_refuses_an_unencrypted_origin(origin: str) -> None:
    """Whoever reads the secret gets the whole market."""
    (said,) = problems({**PRODUCTION, **ORIGIN, "QUOTECAST_ORIGIN": origin})
    assert said.startswith("QUOTECAST_ORIGIN: ws:// shows the secret")
    with pytest.raises(SettingsError, match="shows the secret"):
        edge_worker.run(load({**PRODUCTION, **ORIGIN}), argparse.Namespace(origin=origin))


def test_an_edge_needs_no_servers_in_production_and_all_else_does() -> None:
    """An edge has neither PostgreSQL nor Redis."""
    edge = {**ORIGIN, "QUOTECAST_MODE": "production"}
    assert load(edge, needs_servers=False).origin
    names = [line.partition(":")[0] for line in problems(edge)]
    assert names == ["QUOTECAST_DATABASE_URL", "QUOTECAST_REDIS_URL"]
    assert len(problems({**edge, "QUOTECAST_LIMITS": "off"}, needs_servers=False)) == 1


def test_the_address_of_an_edge_is_checked() -> None:
    """An argument passes the same checks as the setting."""
    with pytest.raises(SettingsError, match="QUOTECAST_ORIGIN: must begin with wss://"):
        edge_worker.run(load(ORIGIN), argparse.Namespace(origin="https://quotes.example.com/path"))


def test_an_edge_counts_its_requests_itself() -> None:
    """A cache asks the workers of an installation; with `edge` nobody would count."""
    with pytest.raises(SettingsError, match="LIMITS=edge"):
        edge_worker.run(
            load(
                {
                    **ORIGIN,
                    "QUOTECAST_LIMITS": "edge",
                    "QUOTECAST_EDGE_KEY": "k" * 32,
                    "QUOTECAST_TRUSTED_PROXIES": "10.0.0.0/8",
                }
            ),
            argparse.Namespace(origin=""),
        )
