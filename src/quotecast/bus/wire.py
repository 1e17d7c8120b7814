"""The bytes on the bus and in its store: MessagePack maps."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, TypeVar

import msgspec

from quotecast.bus.base import Document, FeedInfo, Message, Stored
from quotecast.errors import UnreadableState
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.news import Article

T = TypeVar("T")

_encoder: Final = msgspec.msgpack.Encoder()
_messages: Final[msgspec.msgpack.Decoder[Message]] = msgspec.msgpack.Decoder(Message)
_stored: Final = msgspec.msgpack.Decoder(Stored)
_infos: Final = msgspec.msgpack.Decoder(FeedInfo)
_articles: Final = msgspec.msgpack.Decoder(list[Article])
_assets: Final = msgspec.msgpack.Decoder(list[Asset])

encode = _encoder.encode


def message(data: bytes) -> Message | None:
    """None for what only another version understands. Raises UnreadableState for what is no MessagePack."""
    try:
        return _messages.decode(data)
    except msgspec.ValidationError:
        return None
    except msgspec.DecodeError as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None


def stored(data: bytes) -> Stored:
    """Raises UnreadableState for what no known version wrote."""
    return _decode(_stored, data)


def info(data: bytes) -> FeedInfo:
    """Raises UnreadableState for what no known version wrote."""
    return _decode(_infos, data)


def document(feed: Feed, name: str, content: Sequence[Article | Asset]) -> Document:
    """The content as it is kept on the bus."""
    data = encode(content)
    return Document(feed, name, digest_of(data), data)


def digest_of(content: bytes) -> str:
    """The digest of a document's content."""
    return blake2b(content, digest_size=12).hexdigest()


def articles(content: bytes) -> list[Article]:
    """Raises UnreadableState for what no known version wrote."""
    return _decode(_articles, content)


def assets(content: bytes) -> list[Asset]:
    """Raises UnreadableState for what no known version wrote."""
    return _decode(_assets, content)


def _decode(decoder: msgspec.msgpack.Decoder[T], data: bytes) -> T:
    try:
        return decoder.decode(data)
    except msgspec.DecodeError as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None
