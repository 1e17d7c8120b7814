"""Former symbols of instruments."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache

from msgspec import Struct

from quotecast.market.feeds import Kind
from quotecast.market.reference import rows_of


class Rename(Struct, frozen=True, kw_only=True):
    """A change of an instrument's symbol, from the open of `day` on."""

    former: str
    symbol: str
    day: date


def present_symbols(renames: Iterable[Rename]) -> dict[str, str]:
    """Returns the present symbol by former one, the latest renames first.

    A former symbol that another instrument took over later is left out.
    """
    by_day: dict[date, dict[str, str]] = {}
    for each in renames:
        # Otherwise only the company's name changed.
        if each.former != each.symbol:
            by_day.setdefault(each.day, {})[each.former] = each.symbol
    found: dict[str, str] = {}
    #: The owner of each symbol before the renames that the loop has read, by today's symbol; None if unknown.
    owners: dict[str, str | None] = {}
    reused: set[str] = set()
    for day in sorted(by_day, reverse=True):
        # At once: on one day a company may take the symbol that another one gives up.
        present = {former: owners.get(symbol, symbol) for former, symbol in by_day[day].items()}
        for former, symbol in by_day[day].items():
            # Without an owner it is the same rename again, or a company that lost the symbol otherwise.
            if present[former] is not None:
                owners[symbol] = None
                reused.add(symbol)
        for former, owner in present.items():
            if owner is None:
                owners.setdefault(former, None)
                continue
            owners[former] = owner
            if former not in reused and former != owner:
                found.setdefault(former, owner)
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
    rows = (row for row in rows_of("renames.csv") if row["type"] == kind)
    return [
        Rename(former=row["former"], symbol=row["symbol"], day=date.fromisoformat(row["day"])) for row in rows
    ]
