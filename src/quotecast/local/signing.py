"""The secrets that `up` creates in the data folder, so that sessions and subscriptions survive a restart."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from quotecast.alerts.push import new_private_key, private_key_of
from quotecast.errors import SettingsError
from quotecast.settings.model import MIN_SECRET_BYTES

FILE: Final = "jwt-secret"
VAPID_FILE: Final = "vapid-private-key"


def load_secret(folder: Path) -> str:
    """Returns the folder's secret, created if missing. Raises SettingsError if the file holds none."""
    path = folder / FILE
    if not path.exists():
        _make(path, lambda: secrets.token_hex(MIN_SECRET_BYTES))
    secret = path.read_bytes().decode("ascii", errors="replace").strip()
    if len(secret) < MIN_SECRET_BYTES or not (secret.isascii() and secret.isprintable()):
        raise SettingsError(f"{path} holds no secret; remove it to create one, which logs out all users")
    return secret


def load_vapid_key(folder: Path) -> str:
    """Returns the folder's VAPID key, created if missing. Raises SettingsError if the file holds none."""
    path = folder / VAPID_FILE
    if not path.exists():
        _make(path, new_private_key)
    key = path.read_bytes().decode("ascii", errors="replace").strip()
    try:
        private_key_of(key)
    except SettingsError as error:
        problem = f"{path} holds no key; remove it to create one, which ends all push subscriptions"
        raise SettingsError(problem) from error
    return key


def _make(path: Path, new: Callable[[], str]) -> None:
    # Written under another name and then renamed, so that no reader sees half a secret.
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(new() + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
