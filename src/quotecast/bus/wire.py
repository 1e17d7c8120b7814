"""The bytes on the bus and in its store: MessagePack maps."""

from typing import Final, TypeVar

import msgspec

from quotecast.bus.base import FeedInfo, Message, Stored
from quotecast.errors import BusError

T = TypeVar("T")

_encoder: Final = msgspec.msgpack.Encoder()
_messages: Final[msgspec.msgpack.Decoder[Message]] = msgspec.msgpack.Decoder(Message)
_stored: Final = msgspec.msgpack.Decoder(Stored)
_infos: Final = msgspec.msgpack.Decoder(FeedInfo)

encode = _encoder.encode


def message(data: bytes) -> Message:
    """Raises BusError for what no known version wrote."""
    return _decode(_messages, data)


def stored(data: bytes) -> Stored:
    """Raises BusError for what no known version wrote."""
    return _decode(_stored, data)


def info(data: bytes) -> FeedInfo:
    """Raises BusError for what no known version wrote."""
    return _decode(_infos, data)


def _decode(decoder: msgspec.msgpack.Decoder[T], data: bytes) -> T:
    try:
        return decoder.decode(data)
    except msgspec.DecodeError as error:
        raise BusError(f"unreadable data on the bus: {error}") from None
