"""MessagePack encoding of messages on the bus and of stored quotes."""

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
    """Returns the message, None for an unknown kind. Raises UnreadableState for invalid MessagePack."""
    try:
        return _message_decoder.decode(data)
    except msgspec.ValidationError:
        return None
    except msgspec.DecodeError as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None


def decode_quote(data: bytes) -> StoredQuote:
    """Returns a stored quote. Raises UnreadableState if no known version wrote it."""
    return _decode(_quote_decoder, data)


def decode_info(data: bytes) -> FeedInfo:
    """Returns a feed's info. Raises UnreadableState if no known version wrote it."""
    return _decode(_info_decoder, data)


def encode_document(feed: Feed, name: str, content: Sequence[Article | Asset]) -> Document:
    """Returns the document that the bus stores."""
    data = encode(content)
    return Document(feed, name, digest_of(data), data)


def digest_of(content: bytes) -> str:
    """The digest of a document's content."""
    return blake2b(content, digest_size=12).hexdigest()


def decode_articles(content: bytes) -> list[Article]:
    """Returns the articles of a document. Raises UnreadableState if no known version wrote them."""
    return _decode(_article_decoder, content)


def decode_assets(content: bytes) -> list[Asset]:
    """Returns the assets of a document. Raises UnreadableState if no known version wrote them."""
    return _decode(_asset_decoder, content)


def _decode(decoder: msgspec.msgpack.Decoder[T], data: bytes) -> T:
    try:
        return decoder.decode(data)
    except msgspec.DecodeError as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None
