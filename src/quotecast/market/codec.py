"""Encoding of quotes: each quote once per change; frames join the encoded bytes."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Literal

import msgspec
from msgspec import UNSET

#: The wire format of a quote.
Notation = Literal["json", "msgpack"]


# Decimals, which are amounts of money, become JSON numbers.
_encoder = msgspec.json.Encoder(decimal_format="number")
_packer = msgspec.msgpack.Encoder()

encode_json = _encoder.encode


def encoder_of(notation: Notation) -> Callable[[object], bytes]:
    """Returns the function that encodes quotes, with the field names of the API."""
    return _encoder.encode if notation == "json" else _packer.encode


def encoder_with_nulls(notation: Notation) -> Callable[[object], bytes]:
    """Returns a function, slower by half, that encodes unset values as null."""
    if notation == "json":
        return msgspec.json.Encoder(enc_hook=_null_if_unset).encode
    return msgspec.msgpack.Encoder(enc_hook=_null_if_unset).encode


def _null_if_unset(value: object) -> None:
    if value is not UNSET:
        raise NotImplementedError


def object_json(items: Iterable[tuple[str, bytes]]) -> bytes:
    """Returns one JSON object of values that are already encoded."""
    return b"{%b}" % b",".join(b"%b:%b" % (_encoder.encode(key), value) for key, value in items)


def iso_utc(unix_time: float) -> str:
    """Returns a Unix time as ISO 8601 in UTC with milliseconds, such as `2026-11-20T14:30:00.000Z`."""
    moment = datetime.fromtimestamp(unix_time, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
