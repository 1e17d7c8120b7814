"""Messages and rows of an upstream, read one by one, so that a bad one spoils no other."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Raw

from quotecast.providers.refusals import RefusalCounter

R = TypeVar("R")
T = TypeVar("T")


def decode_rows(rows: Iterable[Raw], kind: type[T], refused: RefusalCounter) -> list[T]:
    """Returns the rows of an answer as `kind`; counts other rows as `malformed`."""
    return list(decode_each(rows, msgspec.json.Decoder(kind).decode, refused))


def decode_each(raws: Iterable[R], decode: Callable[[R], T], refused: RefusalCounter) -> Iterator[T]:
    """Yields each decoded message or row; counts those that `decode` cannot read as `malformed`."""
    for raw in raws:
        try:
            decoded = decode(raw)
        except (ValueError, RecursionError):
            refused.count("malformed")
        else:
            yield decoded


def readable(converted: Iterable[T | None], refused: RefusalCounter) -> list[T]:
    """Returns the rows that could be converted; counts the others, which are None, as `unreadable`."""
    rows = list(converted)
    found = [row for row in rows if row is not None]
    refused.count("unreadable", len(rows) - len(found))
    return found
