"""Former symbols of instruments."""

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources

from quotecast.market.feeds import Kind


def present_symbol(kind: Kind, symbol: str) -> str | None:
    """Returns the present symbol of a former one, both in canonical spelling; None for any other symbol.

    Of a pair only the first asset may have another one.
    """
    base, slash, target = symbol.partition("/")
    present = _present(kind).get(base)
    return None if present is None else f"{present}{slash}{target}"


def formers_of(kind: Kind, symbol: str) -> list[str]:
    """Returns the former symbols of a stock or a coin."""
    return [former for former, present in _present(kind).items() if present == symbol]


def _present(kind: Kind) -> Mapping[str, str]:
    return _renames().get(kind, {})


@cache
def _renames() -> Mapping[str, Mapping[str, str]]:
    text = (resources.files("quotecast.market") / "data" / "renames.csv").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["type"], {})[row["former"]] = row["symbol"]
    return found
