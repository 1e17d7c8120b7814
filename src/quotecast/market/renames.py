"""Former symbols of instruments."""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from msgspec import Struct

from quotecast.market.feeds import Kind


class Rename(Struct, frozen=True):
    """A former symbol, the present one, and the day of the change as `2022-06-09`.

    A pair's symbol is its first asset. The day is "" for another way of writing it.
    """

    former: str
    symbol: str
    since: str


def renames(kind: Kind) -> Sequence[Rename]:
    """Returns all renamed instruments of a kind."""
    return _renames().get(kind, ())


def formers_of(kind: Kind, symbol: str) -> list[str]:
    """Returns the former symbols of an instrument."""
    return [rename.former for rename in renames(kind) if rename.symbol == symbol]


@cache
def _renames() -> Mapping[str, Sequence[Rename]]:
    text = (resources.files("quotecast.market") / "data" / "renames.csv").read_text(encoding="utf-8")
    found: dict[str, list[Rename]] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["type"], []).append(Rename(row["former"], row["symbol"], row["since"]))
    return found
