"""Former symbols of instruments."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from importlib import resources

from msgspec import Struct

from quotecast.market.feeds import Kind


class Rename(Struct, frozen=True, kw_only=True):
    """A change of an instrument's symbol, from the open of `day` on."""

    former: str
    symbol: str
    day: date


def present_symbols(renames: Iterable[Rename]) -> dict[str, str]:
    """Returns the present symbol by former one, the latest renames first.

    A former symbol that another instrument took over later is left out.
    """
    found: dict[str, str] = {}
    #: The present symbols of those that had a symbol before the rename at hand; None if unknown.
    owners: dict[str, str | None] = {}
    reused = set()
    for each in sorted(renames, key=lambda each: each.day, reverse=True):
        if each.former == each.symbol:
            # Only the company's name changed.
            continue
        present = owners.get(each.symbol, each.symbol)
        if present is None:
            # Either this very rename again, or of an instrument that lost the symbol without a rename.
            owners.setdefault(each.former, None)
            continue
        owners |= {each.former: present, each.symbol: None}
        if each.former not in reused and each.former != present:
            found.setdefault(each.former, present)
        reused.add(each.symbol)
    return found


def formers_of(present: Mapping[str, str]) -> dict[str, str]:
    """Returns the former symbols by present one, separated by blanks."""
    found: dict[str, str] = {}
    for former, symbol in present.items():
        found[symbol] = f"{found[symbol]} {former}" if symbol in found else former
    return found


@cache
def well_known_renames(kind: Kind) -> Sequence[Rename]:
    """Returns the renames of well-known stocks or coins, which hold without an upstream."""
    text = (resources.files("quotecast.market") / "data" / "renames.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["type"] == kind]
    return [
        Rename(former=row["former"], symbol=row["symbol"], day=date.fromisoformat(row["day"])) for row in rows
    ]
