"""Signatures of WebSocket commands.

Source: Coinbase Exchange documentation, "WebSocket authentication".
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct


class Login(Struct, frozen=True):
    """What a signed command has beside its channels."""

    key: str
    signature: str
    passphrase: str
    timestamp: str

    def is_signed_with(self, secret: str) -> bool:
        """Returns whether the signature is that of a secret; no signature is that of one without Base64."""
        try:
            expected = signature_of(self.timestamp, secret)
        except ValueError:
            return False
        return hmac.compare_digest(expected.encode(), self.signature.encode("utf-8", "replace"))


def signature_of(timestamp: str, secret: str) -> str:
    """Returns the signature of a command. Raises ValueError for a secret that is not Base64."""
    signed = f"{timestamp}GET/users/self/verify".encode("utf-8", "replace")
    return b64encode(hmac.digest(b64decode(secret, validate=True), signed, sha256)).decode()


def login_of(message: Mapping[str, Any]) -> Login | None:
    """Returns the login of a command; None for one that lacks a part."""
    parts = [message.get(name) for name in ("key", "signature", "passphrase", "timestamp")]
    return Login(*map(str, parts)) if all(parts) else None
