"""Messages of a Binance stream: events of the pairs, and answers to requests.

Source of the format: Binance spot API documentation, "WebSocket streams".
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from quotecast.providers.binance import wire
from quotecast.providers.binance.klines import KlineEvent


class Acknowledged(Struct, frozen=True):
    """The answer to a successful request."""


class BinanceFailure(Struct, frozen=True):
    """The answer to a failed request."""

    code: int
    text: str


class Shutdown(Struct, frozen=True):
    """The upstream is about to end the connection."""


Message = wire.PairStatistics | KlineEvent | Acknowledged | BinanceFailure | Shutdown


class _Complaint(Struct, frozen=True):
    code: int = 0
    msg: str = ""


class _StreamFrame(Struct, frozen=True):
    """Any message: an event wrapped with the name of its stream, a bare event, or an answer."""

    data: Raw = Raw()
    e: str | None = None
    id: Raw = Raw()
    error: _Complaint | None = None
    code: int | None = None
    msg: str = ""


class _Event(Struct, frozen=True):
    # Not every event has a type.
    e: str | None = None


_frame: Final = msgspec.json.Decoder(_StreamFrame)
_event: Final = msgspec.json.Decoder(_Event)
_kline: Final = msgspec.json.Decoder(KlineEvent)


def decode(raw: bytes) -> Message | None:
    """Returns one message; None for one without use here, such as a `trade`.

    Raises ValueError or RecursionError for malformed JSON, and for a message without the fields of its type.
    """
    frame = _frame.decode(raw)
    if frame.error is not None:
        return BinanceFailure(frame.error.code, frame.error.msg)
    if frame.code is not None:
        return BinanceFailure(frame.code, frame.msg)
    body = bytes(frame.data)
    match _event.decode(body).e if body else frame.e:
        case "24hrTicker":
            return wire.event(body or raw)
        case "kline":
            return _kline.decode(body or raw)
        case "serverShutdown":
            return Shutdown()
    return Acknowledged() if bytes(frame.id) and not body else None


def subscribe(streams: Sequence[str], number: int) -> bytes:
    """Returns the request for streams, as JSON; the answer has the same number."""
    return msgspec.json.encode({"method": "SUBSCRIBE", "params": streams, "id": number})
