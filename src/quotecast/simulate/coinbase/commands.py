"""Commands of WebSocket clients."""

from typing import Final, Literal

import msgspec
from msgspec import Struct

from quotecast.simulate.coinbase.errors import NEEDS_LOGIN, CommandError
from quotecast.simulate.coinbase.login import Login, login_of

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
    _check_names(command)
    return command


def _channels(request: _Request) -> dict[str, tuple[str, ...]]:
    channels: dict[str, dict[str, None]] = {}
    for each in request.channels:
        channel = _Channel(each) if isinstance(each, str) else each
        if channel.name not in channels:
            channels[channel.name] = dict.fromkeys(request.product_ids)
        channels[channel.name] |= dict.fromkeys(channel.product_ids)
    return {name: tuple(products) for name, products in channels.items()}


def _check_names(command: Command) -> None:
    """Raises CommandError for channels that Coinbase does not have, or only with a signature."""
    for name in command.channels:
        if name in _SIGNED and command.kind == "subscribe" and not command.login:
            raise CommandError(NEEDS_LOGIN)
        if name not in PRODUCT_CHANNELS and name != STATUS:
            raise CommandError(f"{name} is not a valid channel")
