"""The types of PostgreSQL that the service uses, in the binary format of its protocol."""

import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, NamedTuple

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Type(NamedTuple):
    """A type: its number in PostgreSQL's catalogue, and its binary format."""

    oid: int
    write: Callable[[Any], bytes]
    read: Callable[[bytes], Any]


def _packed(oid: int, form: str) -> Type:
    layout = struct.Struct(form)
    return Type(oid, layout.pack, lambda data: layout.unpack(data)[0])


def _array(oid: int, item: Type) -> Type:
    def write(values: Any) -> bytes:
        if not values:
            return struct.pack("!iii", 0, 0, item.oid)
        head = struct.pack("!iiiii", 1, 0, item.oid, len(values), 1)
        return head + b"".join(length_and_data(item, value) for value in values)

    def read(data: bytes) -> list[Any]:
        if not struct.unpack_from("!i", data)[0]:
            return []
        values, at = [], 20
        for _ in range(struct.unpack_from("!i", data, 12)[0]):
            value, at = read_value(item, data, at)
            values.append(value)
        return values

    return Type(oid, write, read)


def length_and_data(kind: Type, value: Any) -> bytes:
    """Returns a value as rows have it; None is NULL."""
    if value is None:
        return struct.pack("!i", -1)
    data = kind.write(value)
    return struct.pack("!i", len(data)) + data


def read_value(kind: Type, data: bytes, at: int) -> tuple[Any, int]:
    """Returns the value at a place, and the place behind it."""
    (length,) = struct.unpack_from("!i", data, at)
    at += 4
    return (None, at) if length < 0 else (kind.read(data[at : at + length]), at + length)


BOOL: Final = _packed(16, "!?")
VOID: Final = Type(2278, lambda _: b"", lambda _: None)
INT4: Final = _packed(23, "!i")
INT8: Final = _packed(20, "!q")
FLOAT8: Final = _packed(701, "!d")
TEXT: Final = Type(25, lambda value: str(value).encode(), lambda data: data.decode())
DATE: Final = Type(
    1082,
    lambda value: struct.pack("!i", (value - _EPOCH.date()).days),
    lambda data: date.fromordinal(_EPOCH.date().toordinal() + struct.unpack("!i", data)[0]),
)
TIME: Final = Type(
    1184,
    lambda value: struct.pack("!q", (value - _EPOCH) // _MICROSECOND),
    lambda data: _EPOCH + struct.unpack("!q", data)[0] * _MICROSECOND,
)
#: Days and months would depend on the calendar; the service's driver sends seconds and days.
INTERVAL: Final = Type(
    1186,
    lambda value: struct.pack("!qii", (value - timedelta(value.days)) // _MICROSECOND, value.days, 0),
    lambda data: timedelta(struct.unpack("!qii", data)[1], 0, struct.unpack("!qii", data)[0]),
)
TEXTS: Final = _array(1009, TEXT)
INT8S: Final = _array(1016, INT8)
FLOAT8S: Final = _array(1022, FLOAT8)
DATES: Final = _array(1182, DATE)
OIDS: Final = _array(1028, _packed(26, "!I"))
#: The arrays that the driver asks the catalogue about, with the type of their items.
ARRAYS: Final = {INT8S: INT8, FLOAT8S: FLOAT8, DATES: DATE}
