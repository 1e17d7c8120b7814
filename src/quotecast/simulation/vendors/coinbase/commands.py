"""Commands of WebSocket clients."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from quotecast.simulation.vendors.coinbase.errors import NEEDS_LOGIN, CommandError


class Login(Struct, frozen=True):
    """The login of a signed command, beside its channels."""

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


#: Channels of which each product is a subscription of its own.
PRODUCT_CHANNELS: Final = (
    "ticker",
    "ticker_batch",
    "matches",
    "heartbeat",
    "level2",
    "level2_batch",
)
STATUS: Final = "status"
#: Channels that Coinbase answers only with a signature.
_SIGNED: Final = frozenset({"level2", "level3", "full", "user"})


class Command(Struct, frozen=True):
    """A subscription or its end: the products of each channel, in order."""

    kind: Literal["subscribe", "unsubscribe"]
    channels: dict[str, tuple[str, ...]]
    login: Login | None = None


class _Channel(Struct, frozen=True):
    name: str
    product_ids: tuple[str, ...] = ()


class _Request(Struct, frozen=True):
    channels: tuple[str | _Channel, ...] = ()
    product_ids: tuple[str, ...] = ()


def read_command(text: str | bytes) -> Command:
    """Returns a client's command. Raises CommandError as Coinbase refuses it.

    The products at the top level belong to every channel, also to one that names products of its own.
    """
    try:
        message = msgspec.json.decode(text)
    except (ValueError, RecursionError) as error:
        raise CommandError("Malformed JSON") from error
    kind = message.get("type") if isinstance(message, dict) else None
    if kind not in ("subscribe", "unsubscribe"):
        raise CommandError("Type has to be either subscribe or unsubscribe")
    try:
        request = msgspec.convert(message, _Request)
    except msgspec.ValidationError as error:
        raise CommandError("Malformed JSON") from error
    channels = _channels(request)
    if not channels:
        raise CommandError("No channels provided")
    command = Command(kind, channels, login_of(message))
    for name in channels:
        if name in _SIGNED and kind == "subscribe" and not command.login:
            raise CommandError(NEEDS_LOGIN)
        if name not in PRODUCT_CHANNELS and name != STATUS:
            raise CommandError(f"{name} is not a valid channel")
    return command


def _channels(request: _Request) -> dict[str, tuple[str, ...]]:
    channels: dict[str, dict[str, None]] = {}
    for each in request.channels:
        channel = _Channel(each) if isinstance(each, str) else each
        if channel.name not in channels:
            channels[channel.name] = dict.fromkeys(request.product_ids)
        channels[channel.name] |= dict.fromkeys(channel.product_ids)
    return {name: tuple(products) for name, products in channels.items()}


def signature_of(timestamp: str, secret: str) -> str:
    """Returns the signature of a command. Raises ValueError for a secret that is not Base64.

    Source: Coinbase Exchange documentation, "WebSocket authentication".
    """
    signed = f"{timestamp}GET/users/self/verify".encode("utf-8", "replace")
    return b64encode(hmac.digest(b64decode(secret, validate=True), signed, sha256)).decode()


def login_of(message: Mapping[str, Any]) -> Login | None:
    """Returns the login of a command; None for one that lacks a part."""
    parts = [message.get(name) for name in ("key", "signature", "passphrase", "timestamp")]
    return Login(*map(str, parts)) if all(parts) else None
