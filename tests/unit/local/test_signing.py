"""The secret that `up` keeps in its folder."""

from pathlib import Path

import pytest

from quotecast.errors import SettingsError
from quotecast.local import signing
from quotecast.settings.loading import load


def test_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    """Its file is its owner's alone."""
    secret = signing.load_secret(tmp_path)
    assert len(secret) >= 32
    assert signing.load_secret(tmp_path) == secret
    assert (tmp_path / signing.FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"short", "ş".encode() * 40, b"\xff" * 40, b"\0" * 40])
def test_file_that_holds_no_secret_is_said_so(tmp_path: Path, content: bytes) -> None:
    """In a sentence that names it, and never taken for a secret."""
    path = tmp_path / signing.FILE
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=f"{path} holds no secret"):
        signing.load_secret(tmp_path)
    assert path.read_bytes() == content


def test_secret_of_the_environment_that_is_no_text_is_said_so() -> None:
    """Python hands on its bytes as surrogates, which nothing can sign with."""
    with pytest.raises(SettingsError, match="QUOTECAST_JWT_SECRET: must be UTF-8"):
        load({"QUOTECAST_JWT_SECRET": (b"\xff" * 40).decode(errors="surrogateescape")})
