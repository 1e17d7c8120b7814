"""Encodings of quotes and frames: each quote is encoded once per change, frames are joined from bytes."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from quotecast.market.quotes import Move, Quote

#: How a quote is written.
Notation = Literal["json", "msgpack"]

# Decimals, which are money, are written as they are, as JSON numbers.
_encoder = msgspec.json.Encoder(decimal_format="number")
_packer = msgspec.msgpack.Encoder()

encode_json = _encoder.encode


def encode(value: Quote | Move, notation: Notation) -> bytes:
    """A quote, or its moving part, with the field names of the API."""
    return _encoder.encode(value) if notation == "json" else _packer.encode(value)


def object_json(items: Iterable[tuple[str, bytes]]) -> bytes:
    """One JSON object of values that are encoded already."""
    return b"{%b}" % b",".join(b"%b:%b" % (_encoder.encode(key), value) for key, value in items)


def iso_utc(unix_time: float) -> str:
    """ISO 8601 in UTC with milliseconds, such as `2026-11-20T14:30:00.000Z`."""
    moment = datetime.fromtimestamp(unix_time, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
