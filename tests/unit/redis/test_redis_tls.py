"""TLS options of a Redis URL: what is refused at the start, and how many contexts are made."""

import os
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from redis.asyncio.connection import RedisSSLContext

from quotecast.errors import SettingsError
from quotecast.redis.tls import context_of
from quotecast.settings.loading import load
from support.servers.own_tls import make_certificate

PRODUCTION = {
    "QUOTECAST_MODE": "production",
    "QUOTECAST_JWT_SECRET": "0123456789abcdef0123456789abcdef",
    "QUOTECAST_DATABASE_URL": "postgresql://a/b",
}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Returns a certificate's file, with its key in `key.pem` beside it."""
    return make_certificate(tmp_path, "redis.example")[1]


@pytest.mark.parametrize("form", ["rediss://a", "rediss+cluster://a,b", "rediss+sentinel://a,b/quotes"])
def test_a_client_certificate_is_accepted_in_every_form(form: str, certificate: Path) -> None:
    """Authority, certificate and key are files in the options of the URL."""
    key = certificate.with_name("key.pem")
    url = f"{form}?ssl_ca_certs={certificate}&ssl_certfile={certificate}&ssl_keyfile={key}"
    assert load({"QUOTECAST_REDIS_URL": url}).redis_url == url


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("ssl_ca_certs={folder}/none.pem", "ssl_ca_certs: the file .*none.pem cannot be read"),
        ("ssl_ca_certs={folder}/text.pem", "ssl_ca_certs: the file holds no certificates in PEM"),
        ("ssl_certfile={folder}/certificate.pem", "ssl_certfile, ssl_keyfile: no certificate in PEM"),
        ("ssl_certfile={folder}/certificate.pem&ssl_keyfile={folder}/other.pem", "with its own key"),
        ("ssl_keyfile={folder}/key.pem", "ssl_keyfile needs the certificate too: ssl_certfile"),
        ("ssl_certfile={folder}/certificate.pem&ssl_keyfile={folder}/locked.pem", "the key is encrypted"),
        ("ssl_cafile={folder}/certificate.pem", "there is no option ssl_cafile; those of TLS are ssl_ca"),
        ("ssl_cert_reqs=maybe", "ssl_cert_reqs is required, optional or none"),
    ],
)
@pytest.mark.parametrize("form", ["rediss://u:s3cret@a", "rediss+sentinel://u:s3cret@a/quotes"])
def test_unusable_options_are_refused_with_their_reason(
    form: str, options: str, problem: str, certificate: Path
) -> None:
    """The start fails, not the first connection, and no line holds the password."""
    folder = certificate.parent
    (folder / "text.pem").write_text("no certificate")
    (folder / "other").mkdir()
    make_certificate(folder / "other", "other.example")
    (folder / "other" / "key.pem").rename(folder / "other.pem")
    lock_key(folder / "key.pem", folder / "locked.pem")
    with pytest.raises(SettingsError, match=problem) as refused:
        load({"QUOTECAST_REDIS_URL": f"{form}?{options.format(folder=folder)}"})
    assert "s3cret" not in str(refused.value)


def lock_key(key: Path, locked: Path) -> None:
    """Writes the key encrypted with a password."""
    opened = load_pem_private_key(key.read_bytes(), None)
    locked.write_bytes(
        opened.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"open sesame"))
    )


@pytest.mark.parametrize("option", ["ssl_cert_reqs=none", "ssl_cert_reqs=optional", "ssl_check_hostname=no"])
def test_production_checks_the_servers_certificate(option: str) -> None:
    """Elsewhere a test may trust any server."""
    url = f"rediss://a?{option}"
    assert load({"QUOTECAST_REDIS_URL": url}).redis_url == url
    with pytest.raises(SettingsError, match="REDIS_URL: production checks the server's certificate"):
        load({**PRODUCTION, "QUOTECAST_REDIS_URL": url})


def test_an_option_of_tls_needs_tls() -> None:
    """A certificate that nobody checks is a mistake."""
    with pytest.raises(SettingsError, match="ssl_ca_certs needs TLS: rediss://"):
        load({"QUOTECAST_REDIS_URL": "redis://a?ssl_ca_certs=/ca.pem"})


def test_connections_share_a_context_until_a_file_changes(certificate: Path) -> None:
    """A renewed certificate is used without a restart; half of a renewal changes nothing."""

    def context() -> ssl.SSLContext:
        options = RedisSSLContext(ca_certs=str(certificate), cert_reqs="required", check_hostname=True)
        return context_of(options)

    first = context()
    assert context() is first
    assert first.verify_mode is ssl.CERT_REQUIRED
    assert first.check_hostname
    whole = certificate.read_bytes()
    certificate.write_bytes(whole[:100])
    os.utime(certificate, ns=(1, 1))
    assert context() is first
    certificate.write_bytes(whole)
    os.utime(certificate, ns=(2, 2))
    renewed = context()
    assert renewed is not first
    assert context() is renewed


def test_other_options_have_a_context_of_their_own(certificate: Path) -> None:
    """One that checks nothing is never used where another checks."""
    checked = context_of(RedisSSLContext(ca_certs=str(certificate), cert_reqs="required"))
    unchecked = context_of(RedisSSLContext(ca_certs=str(certificate), cert_reqs="none"))
    assert (checked.verify_mode, unchecked.verify_mode) == (ssl.CERT_REQUIRED, ssl.CERT_NONE)
