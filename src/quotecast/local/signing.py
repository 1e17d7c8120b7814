"""The secret that signs users' tokens: made once and kept, so that a restart logs nobody out."""

import os
import secrets
from pathlib import Path
from typing import Final

from quotecast.errors import SettingsError
from quotecast.settings.model import MIN_SECRET_BYTES

FILE: Final = "jwt-secret"


def load_secret(folder: Path) -> str:
    """The folder's secret, readable by its owner only. Raises SettingsError if the file is not one."""
    path = folder / FILE
    if not path.exists():
        _make(path)
    secret = path.read_bytes().decode("ascii", errors="replace").strip()
    if len(secret) < MIN_SECRET_BYTES or not (secret.isascii() and secret.isprintable()):
        raise SettingsError(f"{path} holds no secret; remove it, and a new one logs everybody out")
    return secret


def _make(path: Path) -> None:
    # Under another name first: a half-written secret must not be taken for one.
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(MIN_SECRET_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
