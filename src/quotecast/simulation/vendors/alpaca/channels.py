"""Channels of Alpaca's streams, and what one connection has subscribed to."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

Kind = Literal["stocks", "crypto", "news"]

_BARS: Final = {"bars": "b", "updatedBars": "u", "dailyBars": "d"}
#: Channels of each kind of stream, and the type of their messages.
CHANNELS: Final[dict[Kind, dict[str, str]]] = {
    "stocks": {"trades": "t", "quotes": "q", **_BARS, "statuses": "s", "lulds": "l", "imbalances": "i"},
    "crypto": {"trades": "t", "quotes": "q", **_BARS, "orderbooks": "o"},
    "news": {"news": "n"},
}
#: Channels whose symbols count for the limit of a plan.
COUNTED: Final = ("trades", "quotes")
#: Symbols that one connection may subscribe to, in all channels together.
MOST_SYMBOLS: Final = 20_000
#: Channels that the trades of stocks include.
_INCLUDED: Final = ("corrections", "cancelErrors")
#: Stocks' feeds that have a stream.
STOCK_FEEDS: Final = ("iex", "sip", "delayed_sip", "test", "boats", "overnight", "otc")


class Endpoint(Struct, frozen=True):
    """A stream: its kind, and the feed of stocks."""

    kind: Kind
    feed: str = ""


class Session:
    """What the server knows of a connection; `since` is when it began, in the market's milliseconds."""

    def __init__(self, endpoint: Endpoint, since: int, *, binary: bool) -> None:
        self.endpoint = endpoint
        self.since = since
        #: Whether messages are MessagePack instead of JSON.
        self.binary = binary
        #: The key of a client that has logged in.
        self.key: str | None = None
        self.channels: dict[str, set[str]] = {name: set() for name in CHANNELS[endpoint.kind]}

    def decode(self, command: str | bytes) -> dict[str, Any]:
        """Returns a command; an empty one for bytes that are none."""
        try:
            data = command.encode() if isinstance(command, str) else command
            found = msgspec.msgpack.decode(data) if self.binary else msgspec.json.decode(data)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def channels_after(self, command: Mapping[str, Any], *, adds: bool) -> dict[str, set[str]] | None:
        """Returns the channels after a command; None if the command is malformed."""
        wanted = {name: command.get(name) or [] for name in self.channels}
        for symbols in wanted.values():
            if not isinstance(symbols, list) or not all(isinstance(each, str) for each in symbols):
                return None
        return {
            name: present | {*wanted[name]} if adds else present - {*wanted[name]}
            for name, present in self.channels.items()
        }

    def subscription(self) -> dict[str, Any]:
        """Returns the acknowledgement of a subscription."""
        channels = {name: sorted(symbols) for name, symbols in self.channels.items()}
        if self.endpoint.kind == "stocks":
            channels |= dict.fromkeys(_INCLUDED, channels["trades"])
        return {"T": "subscription", **channels}


def endpoint_of(path: str) -> Endpoint | None:
    """Returns the stream at a path."""
    match path.strip("/").split("/"):
        case ["v2", feed]:
            return Endpoint("stocks", feed)
        case ["v1beta3", "crypto", "us"]:
            return Endpoint("crypto")
        case ["v1beta1", "news"]:
            return Endpoint("news")
        case _:
            return None
