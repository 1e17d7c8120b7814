"""The bytes on the bus and in its store: MessagePack maps."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, TypeVar

import msgspec

from quotecast.bus.base import Document, FeedInfo, Message, StoredQuote
from quotecast.errors import UnreadableState
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.news import Article

T = TypeVar("T")

_encoder: Final = msgspec.msgpack.Encoder()
_message_decoder: Final[msgspec.msgpack.Decoder[Message]] = msgspec.msgpack.Decoder(Message)
_quote_decoder: Final = msgspec.msgpack.Decoder(StoredQuote)
_info_decoder: Final = msgspec.msgpack.Decoder(FeedInfo)
_article_decoder: Final = msgspec.msgpack.Decoder(list[Article])
_asset_decoder: Final = msgspec.msgpack.Decoder(list[Asset])

encode = _encoder.encode


def decode_message(data: bytes) -> Message | None:
    """None for what only another version understands. Raises UnreadableState for what is no MessagePack."""
    try:
        return _message_decoder.decode(data)
    except msgspec.ValidationError:
        return None
    except msgspec.DecodeError as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None


def decode_quote(data: bytes) -> StoredQuote:
    """Raises UnreadableState for what no known version wrote."""
    return _decode(_quote_decoder, data)


def decode_info(data: bytes) -> FeedInfo:
    """Raises UnreadableState for what no known version wrote."""
    return _decode(_info_decoder, data)


def encode_document(feed: Feed, name: str, content: Sequence[Article | Asset]) -> Document:
    """The content as it is kept on the bus."""
    data = encode(content)
    return Document(feed, name, blake2b(data, digest_size=12).hexdigest(), data)


def decode_articles(content: bytes) -> list[Article]:
    """Raises UnreadableState for what no known version wrote."""
    return _decode(_article_decoder, content)


def decode_assets(content: bytes) -> list[Asset]:
    """Raises UnreadableState for what no known version wrote."""
    return _decode(_asset_decoder, content)


def _decode(decoder: msgspec.msgpack.Decoder[T], data: bytes) -> T:
    try:
        return decoder.decode(data)
    except msgspec.DecodeError as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None
