"""The messages between a relay and its origin: what the bus publishes, as it is, and answers to questions.

All are MessagePack in binary frames. The origin sends the messages of `quotecast.bus.base`, and one answer
for each question, in the order of the questions.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from quotecast.bus.base import Message
from quotecast.errors import UnreadableState
from quotecast.market.feeds import Feed

#: The path of the socket, and its subprotocol.
PATH: Final = "/api/ws/relay"
SUBPROTOCOL: Final = "quotecast.relay.v1"
#: Bytes of a question.
MAX_QUESTION_BYTES: Final = 1024


#: What `load.lua` answers: epoch, seq, info, symbols with quotes, symbols with parts, closings.
State = tuple[
    bytes,
    Annotated[bytes, Meta(max_length=18)],
    bytes | None,
    list[bytes],
    list[bytes],
    list[tuple[bytes, bytes, bytes]],
]


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call of a BusReader: of `load`, `digest`, `document`, `report` or `report_document`."""

    call: Literal["state", "digest", "document", "report", "report_document"]
    feed: Feed
    #: A document's name.
    name: str = ""
    #: The digest of a damaged document.
    digest: str = ""


class RemoteAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="answer"):
    """The answer to a question; an error if the origin's bus failed."""

    #: None before the feed's first epoch.
    state: State | None = None
    #: A document's digest; None if there is no document.
    digest: str | None = None
    content: bytes = b""
    error: str = ""
    #: Whether the error is an UnreadableState.
    unreadable: bool = False


class _Tagged(Struct):
    type: str


_tag_decoder: Final = msgspec.msgpack.Decoder(_Tagged)
_message_decoder: Final[msgspec.msgpack.Decoder[Message | RemoteAnswer]] = msgspec.msgpack.Decoder(
    Message | RemoteAnswer
)
_question_decoder: Final = msgspec.msgpack.Decoder(Question)


def decode(data: bytes) -> Message | RemoteAnswer | None:
    """Returns what the origin sent, None for an unknown kind. Raises UnreadableState."""
    try:
        return _message_decoder.decode(data)
    except msgspec.ValidationError as error:
        return RemoteAnswer(error=str(error), unreadable=True) if _is_answer(data) else None
    except (ValueError, RecursionError) as error:
        raise UnreadableState(f"unreadable data from the origin: {error}") from None


def _is_answer(data: bytes) -> bool:
    """Whether it is an answer, however damaged: a question waits for it."""
    try:
        return _tag_decoder.decode(data).type == "answer"
    except (ValueError, RecursionError):
        return False


def decode_question(data: bytes) -> Question:
    """Returns a question. Raises UnreadableState."""
    if len(data) > MAX_QUESTION_BYTES:
        raise UnreadableState("the question is too long")
    try:
        return _question_decoder.decode(data)
    except (ValueError, RecursionError) as error:
        raise UnreadableState(f"unreadable question: {error}") from None
