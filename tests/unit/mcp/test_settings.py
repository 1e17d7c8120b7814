"""Where `/mcp` is served, and to whom."""

import pytest

from quotecast.errors import SettingsError
from quotecast.mcp.http import allowed_hosts, allowed_origins
from quotecast.settings import mcp
from quotecast.settings.loading import load
from quotecast.settings.model import Settings

PRODUCTION = {
    "QUOTECAST_MODE": "production",
    "QUOTECAST_REDIS_URL": "redis://redis",
    "QUOTECAST_DATABASE_URL": "postgresql://postgres/quotecast",
}


def is_served(settings: Settings) -> bool:
    return mcp.serves_mcp(settings, settings.mode)


def test_it_is_on_in_development_where_the_sdk_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_served(Settings())
    assert not is_served(Settings(mcp="off"))
    monkeypatch.setattr(mcp, "has_sdk", lambda: False)
    assert not is_served(Settings())


def test_it_is_off_in_production_unless_the_operator_wants_it() -> None:
    assert not is_served(load(PRODUCTION))
    wanted = {"QUOTECAST_MCP": "on", "QUOTECAST_MCP_HOSTS": "quotes.example.com"}
    assert is_served(load(PRODUCTION | wanted))


def test_production_needs_the_names_of_its_hosts() -> None:
    with pytest.raises(
        SettingsError, match="QUOTECAST_MCP_HOSTS: name the hosts by which clients reach /mcp"
    ):
        load(PRODUCTION | {"QUOTECAST_MCP": "on"})


def test_without_the_sdk_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "has_sdk", lambda: False)
    with pytest.raises(
        SettingsError, match=r"QUOTECAST_MCP: on needs an extra: pip install 'quotecast\[mcp\]'"
    ):
        load({"QUOTECAST_MCP": "on"})


@pytest.mark.parametrize("host", ["https://quotes.example.com", "quotes.example.com:443", "a/b", "*"])
def test_a_host_is_a_name_alone(host: str) -> None:
    with pytest.raises(SettingsError, match="is not a host name; leave out scheme, port and path"):
        load({"QUOTECAST_MCP_HOSTS": host})


def test_development_answers_this_machine_s_names() -> None:
    settings = Settings(host="::1", account_origins=("https://app.example.com", "*"))
    assert {"localhost", "localhost:*", "127.0.0.1:*", "[::1]:*"} <= {*allowed_hosts(settings)}
    assert "0.0.0.0" not in allowed_hosts(Settings(host="0.0.0.0"))  # noqa: S104 - a setting
    assert {"http://localhost:*", "https://app.example.com"} <= {*allowed_origins(settings)}
    assert "*" not in allowed_origins(settings)


def test_production_answers_named_hosts_and_origins_alone() -> None:
    given = {
        "QUOTECAST_MCP_HOSTS": "quotes.example.com",
        "QUOTECAST_ACCOUNT_ORIGINS": "https://app.example.com",
    }
    settings = load(PRODUCTION | given)
    assert allowed_hosts(settings) == ["quotes.example.com", "quotes.example.com:*"]
    assert allowed_origins(settings) == ["https://app.example.com"]
