"""Former symbols of instruments."""

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources

from msgspec import Struct

from quotecast.market.feeds import Kind


class Rename(Struct, frozen=True):
    """The present symbol, and the day of the change as `2022-06-09`; "" for another way of writing it."""

    symbol: str
    since: str


def rename_of(kind: Kind, former: str) -> Rename | None:
    """Returns what became of a symbol in upper case. A pair's symbol is its base asset."""
    return _renames().get((kind, former))


def formers_of(kind: Kind, symbol: str) -> list[str]:
    """Returns the former symbols of an instrument."""
    return [
        former for (each, former), rename in _renames().items() if (each, rename.symbol) == (kind, symbol)
    ]


@cache
def _renames() -> Mapping[tuple[str, str], Rename]:
    text = (resources.files("quotecast.market") / "data" / "renames.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {(row["type"], row["former"]): Rename(row["symbol"], row["since"]) for row in rows}
