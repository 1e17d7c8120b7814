"""Web Push: encryption for a browser (RFC 8291, RFC 8188) and the sender's identity (VAPID, RFC 8292)."""

import base64
import binascii
import os
from typing import Final
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from quotecast.alerts.outbound import Outbound, Result
from quotecast.errors import SettingsError

#: Statuses with which a push service says that the browser has unsubscribed (RFC 8030, 7.3).
GONE: Final = frozenset({404, 410})
#: Bytes of a public key, uncompressed, and of the secret that a browser makes.
PUBLIC_BYTES: Final = 65
AUTH_BYTES: Final = 16
PRIVATE_BYTES: Final = 32

#: Seconds for which a push service holds a message for a browser that is offline.
_TTL_SECONDS: Final = 86_400
#: Seconds of a token; RFC 8292 allows a day.
_TOKEN_SECONDS: Final = 12 * 3600
_RECORD_BYTES: Final = 4096
#: The order of the curve P-256: private keys are below it.
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


class Vapid:
    """The identity of the service towards push services: a key, and an address of its operator."""

    def __init__(self, private_key: str, contact: str) -> None:
        self._key = private_key_of(private_key)
        self._contact = contact
        #: The public key, which browsers want at the subscription.
        self.public_key = encode(_point(self._key.public_key()))

    def authorization(self, endpoint: str, now: float) -> str:
        """Returns the header `Authorization` for a push service; `now` is Unix time."""
        parts = urlsplit(endpoint)
        claims = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": int(now) + _TOKEN_SECONDS,
            "sub": self._contact,
        }
        token = jwt.encode(claims, self._key, "ES256")
        return f"vapid t={token}, k={self.public_key}"


def make_vapid(private_key: str, contact: str) -> Vapid | None:
    """Returns the identity towards push services; None without a key. Raises SettingsError."""
    return Vapid(private_key, contact) if private_key else None


async def post(
    outbound: Outbound, vapid: Vapid, *, endpoint: str, p256dh: str, auth: str, now: float, message: bytes
) -> Result:
    """Posts a message for a browser to its push service once; `now` is Unix time."""
    headers = {
        "authorization": vapid.authorization(endpoint, now),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        "ttl": str(_TTL_SECONDS),
        "urgency": "high",
    }
    return await outbound.post(endpoint, headers, encrypt(message, decode(p256dh), decode(auth)))


def encrypt(
    message: bytes,
    browser_key: bytes,
    auth: bytes,
    *,
    sender_key: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """Returns a message that only the browser with these keys reads. Raises ValueError for a wrong key.

    Each message has a sender's key and a salt of its own; only tests give them.
    """
    sender = sender_key or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(16)
    sender_public = _point(sender.public_key())
    browser = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), browser_key)
    shared = sender.exchange(ec.ECDH(), browser)
    secret = _derive(shared, auth, b"WebPush: info\0" + browser_key + sender_public, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + _RECORD_BYTES.to_bytes(4, "big") + bytes([len(sender_public)]) + sender_public
    # The byte 2 ends the last record.
    return head + AESGCM(key).encrypt(nonce, message + b"\2", None)


def private_key_of(text: str) -> ec.EllipticCurvePrivateKey:
    """Returns the key of 32 bytes in base64url. Raises SettingsError."""
    try:
        raw = decode(text)
    except ValueError:
        raw = b""
    if len(raw) != PRIVATE_BYTES or not 0 < int.from_bytes(raw, "big") < _ORDER:
        raise SettingsError("must be a VAPID key, 32 bytes in base64url; `quotecast vapid` makes one")
    return ec.derive_private_key(int.from_bytes(raw, "big"), ec.SECP256R1())


def new_private_key() -> str:
    """Returns a new private key in base64url."""
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return encode(number.to_bytes(PRIVATE_BYTES, "big"))


def is_public_key(raw: bytes) -> bool:
    """Returns whether the bytes are an uncompressed point of the curve."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), raw)
    except ValueError:
        return False
    return len(raw) == PUBLIC_BYTES


def encode(raw: bytes) -> str:
    """Returns base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Returns the bytes of base64url, with or without padding. Raises ValueError."""
    try:
        padded = text.rstrip("=").encode("ascii")
        return base64.b64decode(padded + b"=" * (-len(padded) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError("not base64url") from error


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)
