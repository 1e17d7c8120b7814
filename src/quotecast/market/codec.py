"""Encodings of quotes and frames: each quote is encoded once per change, frames are joined from bytes."""

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from quotecast.market.quotes import Quote, moving_part

_encoder = msgspec.json.Encoder()

encode_json = _encoder.encode


def full_json(quote: Quote) -> bytes:
    """The quote as REST answers it."""
    return _encoder.encode(quote)


def moving_json(quote: Quote) -> bytes:
    """The quote's moving fields, as an update frame carries them."""
    return _encoder.encode(moving_part(quote))


def object_json(items: Iterable[tuple[str, bytes]]) -> bytes:
    """One JSON object of values that are encoded already."""
    return b"{%b}" % b",".join(b"%b:%b" % (_encoder.encode(key), value) for key, value in items)


def array_json(items: Iterable[bytes]) -> bytes:
    """One JSON array of values that are encoded already."""
    return b"[%b]" % b",".join(items)


def iso_utc(unix_time: float) -> str:
    """ISO 8601 in UTC with milliseconds, such as `2026-11-20T14:30:00.000Z`."""
    moment = datetime.fromtimestamp(unix_time, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
