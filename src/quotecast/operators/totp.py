"""Time-based one-time codes (TOTP, RFC 6238): SHA-1, six digits, steps of 30 seconds."""

import base64
import hmac
import secrets
import struct
from typing import Final
from urllib.parse import quote, urlencode

STEP_SECONDS: Final = 30
DIGITS: Final = 6
#: Bytes of a secret: as many as SHA-1 returns (RFC 4226, section 4).
SECRET_BYTES: Final = 20


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
