"""Rows of an upstream's answer, decoded one by one, so that a bad row spoils no other."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec
from msgspec import Raw

from quotecast.providers.refusals import RefusalCounter

T = TypeVar("T")


def decode_rows(rows: Iterable[Raw], kind: type[T], refused: RefusalCounter) -> list[T]:
    """Returns the rows of an answer as `kind`; counts other rows as `malformed`."""
    decoder = msgspec.json.Decoder(kind)
    found = []
    for raw in rows:
        try:
            found.append(decoder.decode(raw))
        except (ValueError, RecursionError):
            refused.count("malformed")
    return found
