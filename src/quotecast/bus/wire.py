"""MessagePack encoding of messages on the bus and of stored quotes."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, TypeVar

import msgspec
from msgspec import Raw

from quotecast.bus.base import Change, Document, FeedInfo, Message, StoredQuote
from quotecast.errors import UnreadableState
from quotecast.market.assets import Asset
from quotecast.market.crossings import Crossing
from quotecast.market.feeds import Feed
from quotecast.market.news import Article
from quotecast.market.own_bars import Closing, Parts, Progress
from quotecast.market.quotes import Quote
from quotecast.market.renames import Rename

T = TypeVar("T")

_encoder: Final = msgspec.msgpack.Encoder()
_message_decoder: Final[msgspec.msgpack.Decoder[Message]] = msgspec.msgpack.Decoder(Message)
_quote_decoder: Final[msgspec.msgpack.Decoder[Quote]] = msgspec.msgpack.Decoder(Quote)
_stored_decoder: Final = msgspec.msgpack.Decoder(StoredQuote)
_info_decoder: Final = msgspec.msgpack.Decoder(FeedInfo)
_progress_decoder: Final = msgspec.msgpack.Decoder(Progress)
_parts_decoder: Final = msgspec.msgpack.Decoder(Parts)
_closing_decoder: Final = msgspec.msgpack.Decoder(Closing)
_crossing_decoder: Final = msgspec.msgpack.Decoder(Crossing)
_article_decoder: Final = msgspec.msgpack.Decoder(list[Article])
_asset_decoder: Final = msgspec.msgpack.Decoder(list[Asset])
_rename_decoder: Final = msgspec.msgpack.Decoder(list[Rename])

#: What msgspec raises for data that it cannot decode: besides its own errors, which are ValueErrors, that is
#: UnicodeDecodeError for text, and RecursionError for arrays in arrays.
_DECODE_ERRORS: Final = (ValueError, RecursionError)

encode = _encoder.encode


def decode_message(data: bytes) -> Message | None:
    """Returns the message, None for an unknown kind. Raises UnreadableState for invalid MessagePack.

    The quotes of a batch stay encoded.
    """
    try:
        message = _message_decoder.decode(data)
    except msgspec.ValidationError:
        return None
    except _DECODE_ERRORS as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None
    return message


def encode_change(quote: Quote, *, full: bool = False, bars: Progress | None = None) -> Change:
    """Returns the change to a quote and its bars in progress."""
    return Change(Raw(encode(quote)), quote.key, full, encode(bars) if bars is not None else b"")


def decode_quote(data: Raw) -> Quote:
    """Returns a change's quote. Raises UnreadableState if no known version wrote it."""
    try:
        return _quote_decoder.decode(data)
    except _DECODE_ERRORS as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None


def decode_stored(data: bytes) -> StoredQuote:
    """Returns a stored quote. Raises UnreadableState if no known version wrote it."""
    return _decode(_stored_decoder, data)


def decode_info(data: bytes) -> FeedInfo:
    """Returns a feed's info. Raises UnreadableState if no known version wrote it."""
    return _decode(_info_decoder, data)


def decode_progress(data: bytes) -> Progress:
    """Returns a symbol's bars in progress. Raises UnreadableState if no known version wrote them."""
    return _decode(_progress_decoder, data)


def decode_parts(data: bytes) -> Parts:
    """Returns the parts of one symbol. Raises UnreadableState if no known version wrote them."""
    return _decode(_parts_decoder, data)


def decode_closing(data: bytes) -> Closing:
    """Returns a closing. Raises UnreadableState if no known version wrote it."""
    return _decode(_closing_decoder, data)


def decode_crossing(data: bytes) -> Crossing:
    """Returns a crossing. Raises UnreadableState if no known version wrote it."""
    return _decode(_crossing_decoder, data)


def encode_document(feed: Feed, name: str, content: Sequence[Article | Asset | Rename]) -> Document:
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


def decode_renames(content: bytes) -> list[Rename]:
    """Returns the renames of a document. Raises UnreadableState if no known version wrote them."""
    return _decode(_rename_decoder, content)


def _decode(decoder: msgspec.msgpack.Decoder[T], data: bytes) -> T:
    try:
        return decoder.decode(data)
    except _DECODE_ERRORS as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from None
