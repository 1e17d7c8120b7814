"""Time-based one-time codes (TOTP, RFC 6238), SHA-1, six digits, steps of 30 seconds; the seal of secrets.

PostgreSQL has a secret sealed with AES-256-GCM under a key of the service's own secret: a reader of the
database or of a backup cannot make codes. The seal names its user, so that a row with another's secret does
not open.
"""

import base64
import hmac
import os
import secrets
import struct
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, urlencode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from quotecast.operators.errors import Unsealable

STEP_SECONDS: Final = 30
DIGITS: Final = 6
#: Bytes of a secret: as many as SHA-1 returns (RFC 4226, section 4).
SECRET_BYTES: Final = 20

_NONCE_BYTES: Final = 12


def new_secret() -> bytes:
    """Returns a new random secret."""
    return secrets.token_bytes(SECRET_BYTES)


def code_of(secret: bytes, step: int) -> str:
    """Returns the code of a step, counted from Unix time 0 (RFC 4226, section 5.3)."""
    digest = hmac.digest(secret, struct.pack(">Q", step), "sha1")
    offset = digest[-1] & 0xF
    (number,) = struct.unpack_from(">I", digest, offset)
    return f"{(number & 0x7FFF_FFFF) % 10**DIGITS:0{DIGITS}}"


def step_of(secret: bytes, code: str, now: float) -> int | None:
    """Returns the step whose code this is: the present one, or one beside it; None for a wrong code.

    `now` is Unix time. Compares all three codes in constant time.
    """
    present = int(now) // STEP_SECONDS
    given = code.encode("utf-8", "replace")
    found = None
    for step in (present - 1, present, present + 1):
        if hmac.compare_digest(code_of(secret, step).encode(), given):
            found = step
    return found


def text_of(secret: bytes) -> str:
    """Returns the secret as apps for codes take it: in base32."""
    return base64.b32encode(secret).decode()


def uri_of(secret: bytes, email: str) -> str:
    """Returns the `otpauth:` URI of a secret, which such apps read from a QR code."""
    label = quote(f"quotecast:{email}", safe="")
    parameters = {"secret": text_of(secret), "issuer": "quotecast", "algorithm": "SHA1", "digits": DIGITS}
    return f"otpauth://totp/{label}?{urlencode({**parameters, 'period': STEP_SECONDS})}"


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
