"""The secret that signs users' tokens: stored in the data folder, so that sessions survive a restart."""

import os
import secrets
from pathlib import Path
from typing import Final

from quotecast.errors import SettingsError
from quotecast.settings.model import MIN_SECRET_BYTES

FILE: Final = "jwt-secret"


def load_secret(folder: Path) -> str:
    """Returns the folder's secret, created if missing. Raises SettingsError if the file holds none."""
    path = folder / FILE
    if not path.exists():
        _make(path)
    secret = path.read_bytes().decode("ascii", errors="replace").strip()
    if len(secret) < MIN_SECRET_BYTES or not (secret.isascii() and secret.isprintable()):
        raise SettingsError(f"{path} holds no secret; remove it to create one, which logs out all users")
    return secret


def _make(path: Path) -> None:
    # Written under another name and then renamed, so that no reader sees half a secret.
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(MIN_SECRET_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
