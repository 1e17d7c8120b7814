"""Settings from the environment and from files of secrets, and their errors."""

import re
from pathlib import Path

import pytest

from quotecast.errors import SettingsError
from quotecast.settings.loading import load
from quotecast.settings.model import SECRETS, Settings, variable_names
from quotecast.settings.plans import users_are_delayed

SECRET = "0123456789abcdef" * 4
MEANT = {
    "database_url": "postgresql://db.example/quotes",
    "redis_url": "rediss://redis.example:6379/0",
    "vapid_private_key": "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
}


def problems(environment: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        load(environment)
    return str(refused.value).splitlines()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MODE", "prod", "must be one of development, production"),
        ("LOG_LEVEL", "verbose", "must be one of debug, error, info, warning"),
        ("ALPACA_PLAN", "free", "must be one of iex, sip"),
        ("PORT", "many", "must be a whole number from 1 to 65535"),
        ("PORT", "0", "must be a whole number from 1 to 65535"),
        ("DATABASE_STATEMENT_CACHE", "-1", "must be a whole number from 0 to 10000"),
        ("SOCKETS_PER_WORKER", "-1", "must be a whole number of 0 or more"),
        ("MOVERS_MIN_PRICE", "cheap", "must be a number of 0 or more"),
        ("SIMULATOR_RATE", "0", "must be a number above 0, at most 100000"),
        ("ACCESS_LOG", "2", "must be off, or a number from 0 to 1"),
        ("HOST", "", "must not be empty"),
        ("DATABASE_URL", "mysql://db.example", "must begin with postgresql:// and hold no spaces"),
        (
            "REDIS_URL",
            "redis.example:6379",
            (
                "must begin with redis://, redis+cluster://, redis+sentinel:// (rediss for TLS) or unix://"
                " and hold no spaces; Sentinels name a service: redis+sentinel://host:26379/service"
            ),
        ),
        ("REDIS_PREFIX", "My Prefix", "must be 1 to 32 of a-z, 0-9, - and _"),
        ("BINANCE_URL", "binance.example", "must begin with http:// or https:// and hold no spaces"),
        ("KRAKEN_WEBSOCKET_URL", "http://k.example", "must begin with ws:// or wss:// and hold no spaces"),
    ],
)
def test_a_bad_value_is_answered_with_what_may_stand_there(name: str, value: str, said: str) -> None:
    """The error has words, not the regular expression, and leaves out the value, a possible password."""
    assert problems({f"QUOTECAST_{name}": value}) == [f"QUOTECAST_{name}: {said}"]


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        (
            {"VAPID_PRIVATE_KEY": "short"},
            "VAPID_PRIVATE_KEY: must be 32 bytes in base64url, such as `quotecast vapid` prints",
        ),
        (
            {"WEBHOOK_NETWORKS": "10.0.0.1/8"},
            "WEBHOOK_NETWORKS: '10.0.0.1/8' is not a network such as 10.1.0.0/16",
        ),
        ({"VAPID_CONTACT": "me"}, "VAPID_CONTACT: must begin with mailto: or https://"),
        ({"ALERTS_PER_USER": "-1"}, "ALERTS_PER_USER: must be a whole number from 0 to 10000"),
    ],
)
def test_bad_settings_of_alerts_are_errors(environment: dict[str, str], said: str) -> None:
    given = {f"QUOTECAST_{name}": value for name, value in environment.items()}
    assert problems(given) == [f"QUOTECAST_{said}"]


def test_a_cache_that_counts_needs_a_key_and_trust() -> None:
    """Without both, any client could pass for the cache."""
    given = {"QUOTECAST_LIMITS": "edge"}
    assert [line.split(":")[0] for line in problems(given)] == [
        "QUOTECAST_EDGE_KEY",
        "QUOTECAST_TRUSTED_PROXIES",
    ]
    whole = {**given, "QUOTECAST_EDGE_KEY": SECRET, "QUOTECAST_TRUSTED_PROXIES": "10.0.0.7"}
    assert load(whole).limits == "edge"
    assert len(problems({**whole, "QUOTECAST_EDGE_KEY": "short"})) == 1


def test_production_admits_named_networks_only() -> None:
    """A network of every address would switch the check off."""
    given = {"QUOTECAST_MODE": "production", "QUOTECAST_WEBHOOK_NETWORKS": "10.1.0.0/16,0.0.0.0/0"}
    said = "QUOTECAST_WEBHOOK_NETWORKS: name your own networks; this one has every address"
    assert said in problems(given)


def test_no_setting_is_explained_by_a_pattern() -> None:
    """This holds for every setting."""
    environment = {name: " \x00 " for name in variable_names() if not name.endswith("_FILE")}
    assert not [line for line in problems(environment) if re.search(r"regex|\\s|\^|`str`|enum", line)]


@pytest.mark.parametrize("field", SECRETS)
def test_a_secret_may_stand_in_a_file(field: str, tmp_path: Path) -> None:
    """The file's last line break is not part of the secret."""
    value = MEANT.get(field, SECRET)
    file = tmp_path / "secret"
    file.write_text(f"{value}\n", "utf-8")
    assert getattr(load({f"QUOTECAST_{field.upper()}_FILE": str(file)}), field) == value


def test_the_secrets_are_all_that_an_operator_keeps_to_himself() -> None:
    """URLs of databases hold passwords."""
    named = [name for name in Settings.__struct_fields__ if re.search(r"secret|key|password|token$", name)]
    assert sorted(SECRETS) == sorted([*named, "database_url", "redis_url"])


def test_a_secret_from_two_places_is_refused(tmp_path: Path) -> None:
    """One of the two must be a mistake."""
    given = {"QUOTECAST_JWT_SECRET": SECRET, "QUOTECAST_JWT_SECRET_FILE": str(tmp_path / "secret")}
    assert problems(given) == ["QUOTECAST_JWT_SECRET_FILE: QUOTECAST_JWT_SECRET is set too; set one of them"]


def test_an_empty_name_of_a_file_is_none() -> None:
    """`up` passes secrets as values, whatever their source."""
    given = {"QUOTECAST_JWT_SECRET": SECRET, "QUOTECAST_JWT_SECRET_FILE": ""}
    assert load(given).jwt_secret == SECRET


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read: No such file or directory"), (b"\xff\xfe", "is not text")]
)
def test_a_file_that_holds_no_secret_is_said(content: bytes | None, said: str, tmp_path: Path) -> None:
    """The error names the file."""
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    given = {"QUOTECAST_FINNHUB_KEY_FILE": str(file)}
    assert problems(given) == [f"QUOTECAST_FINNHUB_KEY_FILE: {file} {said}"]


def test_what_is_no_secret_has_no_file() -> None:
    """The error suggests the nearest name."""
    assert problems({"QUOTECAST_PORT_FILE": "/run/port"}) == [
        "QUOTECAST_PORT_FILE: there is no such setting; did you mean QUOTECAST_PORT?"
    ]
    assert problems({"QUOTECAST_JWT_SECRETS_FILE": "/run/secret"}) == [
        "QUOTECAST_JWT_SECRETS_FILE: there is no such setting; did you mean QUOTECAST_JWT_SECRET_FILE?"
    ]


def test_delayed_plans_need_a_delay(tmp_path: Path) -> None:
    """Without one their clients would have no quotes."""
    path = tmp_path / "plans.toml"
    path.write_text('[plans.anonymous]\nfreshness = "delayed"\n', "utf-8")
    (line,) = problems({"QUOTECAST_PLANS": str(path)})
    assert line.startswith("QUOTECAST_PLANS: anonymous: delayed quotes need QUOTECAST_DELAY_SECONDS")
    settings = load({"QUOTECAST_PLANS": str(path), "QUOTECAST_DELAY_SECONDS": "900"})
    assert users_are_delayed(settings)
    path.write_text('[plans.anonymous]\nfreshness = "delayed"\n[plans.user]\n', "utf-8")
    assert not users_are_delayed(settings)
