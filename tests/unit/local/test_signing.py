"""The secret in the data folder of `up`."""

from pathlib import Path

import pytest

from quotecast.errors import SettingsError
from quotecast.local import signing
from quotecast.settings.loading import load


def test_the_secret_is_created_once(tmp_path: Path) -> None:
    """Only the owner can read the file."""
    secret = signing.load_secret(tmp_path)
    assert len(secret) >= 32
    assert signing.load_secret(tmp_path) == secret
    assert (tmp_path / signing.FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"short", "ş".encode() * 40, b"\xff" * 40, b"\0" * 40])
def test_a_file_without_a_secret_is_an_error(tmp_path: Path, content: bytes) -> None:
    """The error names the file; its content never becomes a secret."""
    path = tmp_path / signing.FILE
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=f"{path} holds no secret"):
        signing.load_secret(tmp_path)
    assert path.read_bytes() == content


def test_a_secret_that_is_not_utf_8_is_an_error() -> None:
    """Python decodes such bytes to surrogates, with which nothing can sign."""
    with pytest.raises(SettingsError, match="QUOTECAST_JWT_SECRET: must be UTF-8"):
        load({"QUOTECAST_JWT_SECRET": (b"\xff" * 40).decode(errors="surrogateescape")})


def test_the_vapid_key_is_created_once(tmp_path: Path) -> None:
    """Another key would end all push subscriptions."""
    key = signing.load_vapid_key(tmp_path)
    assert load({"QUOTECAST_VAPID_PRIVATE_KEY": key}).vapid_private_key == key
    assert signing.load_vapid_key(tmp_path) == key
    assert (tmp_path / signing.VAPID_FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"short", b"A" * 43, b"\xff" * 43])
def test_a_file_without_a_vapid_key_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / signing.VAPID_FILE
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=f"{path} holds no key"):
        signing.load_vapid_key(tmp_path)
    assert path.read_bytes() == content
