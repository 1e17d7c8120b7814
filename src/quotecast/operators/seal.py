"""Seals secrets of TOTP for PostgreSQL: AES-256-GCM under a key of the service's own secret.

A reader of the database or of a backup cannot make codes. The seal names its user, so that a row with
another's secret does not open.
"""

import base64
import hmac
import os
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from quotecast.operators.errors import Unsealable

_NONCE_BYTES: Final = 12


def seal(secret: bytes, user_id: str, key: str) -> str:
    """Returns the secret of a user, sealed with `QUOTECAST_JWT_SECRET`."""
    nonce = os.urandom(_NONCE_BYTES)
    sealed = _cipher(key).encrypt(nonce, secret, user_id.encode())
    return base64.b64encode(nonce + sealed).decode()


def unseal(sealed: str, user_id: str, keys: Sequence[str]) -> bytes:
    """Returns the secret of a user, sealed with one of the keys. Raises Unsealable."""
    try:
        data = base64.b64decode(sealed, validate=True)
    except ValueError as error:
        raise Unsealable from error
    for key in keys:
        try:
            return _cipher(key).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], user_id.encode())
        except (InvalidTag, ValueError):
            continue
    raise Unsealable


def _cipher(key: str) -> AESGCM:
    return AESGCM(hmac.digest(key.encode(), b"quotecast seal of operators' TOTP secrets", "sha256"))
