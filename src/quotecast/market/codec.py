"""Encoding of quotes: each quote once per change; frames join the encoded bytes."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from quotecast.market.quotes import Move, Quote

#: The wire format of a quote.
Notation = Literal["json", "msgpack"]

# Decimals, which are amounts of money, become JSON numbers.
_encoder = msgspec.json.Encoder(decimal_format="number")
_packer = msgspec.msgpack.Encoder()

encode_json = _encoder.encode


def encode(value: Quote | Move, notation: Notation) -> bytes:
    """Returns a quote or its moving fields, encoded with the field names of the API."""
    return _encoder.encode(value) if notation == "json" else _packer.encode(value)


def object_json(items: Iterable[tuple[str, bytes]]) -> bytes:
    """Returns one JSON object of values that are already encoded."""
    return b"{%b}" % b",".join(b"%b:%b" % (_encoder.encode(key), value) for key, value in items)


def iso_utc(unix_time: float) -> str:
    """Returns a Unix time as ISO 8601 in UTC with milliseconds, such as `2026-11-20T14:30:00.000Z`."""
    moment = datetime.fromtimestamp(unix_time, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
