"""The options that a Redis URL means."""

import traceback
from typing import Any

import pytest

from quotecast.errors import SettingsError
from quotecast.redis import urls
from quotecast.redis.tls import TlsConnection
from quotecast.settings.loading import load

#: What every connection says of its library.
DRIVER = {"driver_info": urls.DRIVER}


def test_a_cluster_is_named_by_some_of_its_nodes() -> None:
    """User and options apply to every node."""
    found = urls.cluster_nodes("rediss+cluster://me:p%40ss@one:7000,[::1]:7001,two?ssl_ca_certs=/ca.pem")
    common: dict[str, Any] = {
        "username": "me",
        "password": "p@ss",
        "ssl_ca_certs": "/ca.pem",
        "connection_class": TlsConnection,
        **DRIVER,
    }
    hosts: list[dict[str, Any]] = [
        {"host": "one", "port": 7000},
        {"host": "::1", "port": 7001},
        {"host": "two"},
    ]
    assert found == [common | each for each in hosts]


def test_sentinels_name_the_master_of_a_service() -> None:
    """The user is for the master; each Sentinel has its own port."""
    service, master, sentinels = urls.master_of_sentinels("redis+sentinel://me:pass@one,two:5000/quotes/3")
    assert service == "quotes"
    assert master == {"username": "me", "password": "pass", "db": 3, **DRIVER}
    assert sentinels == [{"host": "one", "port": 26379, **DRIVER}, {"host": "two", "port": 5000, **DRIVER}]


def test_sentinels_may_want_a_password_of_their_own_and_tls() -> None:
    """TLS options apply to Sentinels and to the master."""
    url = "rediss+sentinel://one/quotes?sentinel_username=watch&sentinel_password=word&ssl_ca_certs=/ca.pem"
    _, master, [sentinel] = urls.master_of_sentinels(url)
    tls = {"ssl_ca_certs": "/ca.pem", "connection_class": TlsConnection, **DRIVER}
    assert master == tls
    assert sentinel == tls | {"username": "watch", "password": "word", "host": "one", "port": 26379}


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://user:word@a:26379,b:26379,c:26379/quotes",
        "rediss+sentinel://a/quotes/1?sentinel_password=x",
        "redis+cluster://a:7000,b:7000",
        "rediss+cluster://a:7000,b:7000",
        "redis://a",
    ],
)
def test_a_setting_takes_every_form(url: str) -> None:
    """The docs show the same forms."""
    assert load({"QUOTECAST_REDIS_URL": url}).redis_url == url


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://a:1,/svc",
        "redis+sentinel://user:s3cret/pw@a:1/svc",
        "redis+sentinel://a:1,b:s3cret/svc",
        "redis+cluster://a:1,,b:1",
        "redis+cluster://user:s3cret/pw@a:1",
        "redis+cluster://a:s3cret",
        "rediss+cluster://[a:s3cret",
        "redis://user:s3cret/pw@a:1",
        "redis://user:6379/s3cret@a:1",
        "redis://a:s3cret",
        "redis://a?max_connections=s3cret",
    ],
)
def test_a_url_that_no_client_can_read_is_refused_unseen(url: str) -> None:
    """It may hold a password."""
    with pytest.raises(SettingsError) as refused:
        load({"QUOTECAST_REDIS_URL": url})
    assert str(refused.value).startswith("QUOTECAST_REDIS_URL: ")
    assert "s3cret" not in "".join(traceback.format_exception(refused.value))


def test_sentinels_without_a_service_are_refused() -> None:
    """Sentinels watch many services, so a URL must name one."""
    with pytest.raises(SettingsError, match="Sentinels name a service"):
        load({"QUOTECAST_REDIS_URL": "redis+sentinel://a:26379"})
