"""Other names of instruments: English ones of Turkish instruments, and brands of companies."""

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

from msgspec import Struct

from quotecast.market.feeds import Kind


class Alias(Struct, frozen=True, gc=False):
    """The other names of one instrument, and its place in the table: well-known ones come first."""

    place: int
    names: str


#: The place of an instrument that the table lacks, after all others.
LAST_PLACE: Final = 100

_NO_ALIAS: Final = Alias(LAST_PLACE, "")


def alias_of(kind: Kind, symbol: str) -> Alias:
    """Returns the other names of an instrument. A pair's symbol is its base asset."""
    return _aliases().get((kind, symbol), _NO_ALIAS)


@cache
def _aliases() -> Mapping[tuple[str, str], Alias]:
    text = (resources.files("quotecast.market") / "data" / "aliases.csv").read_text(encoding="utf-8")
    rows = enumerate(csv.DictReader(text.splitlines()))
    return {(row["type"], row["symbol"]): Alias(place, row["names"].replace(";", " ")) for place, row in rows}
