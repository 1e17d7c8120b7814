"""The parameters of a request to Binance, read and checked."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec

from quotecast.simulation.vendors.binance.errors import Problem

_SYMBOL: Final = re.compile(r"[A-Z0-9\-_.]{1,20}")
_LEGAL_SYMBOL: Final = "^[A-Z0-9-_.]{1,20}$"
_LEGAL_SYMBOLS: Final = '^\\[("[A-Z0-9-_.]{1,20}"(,"[A-Z0-9-_.]{1,20}"){0,}){0,1}\\]$'
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_LEGAL_NUMBER: Final = "^[0-9]{1,20}$"
#: Symbols that a request may name.
_MAX_SYMBOLS: Final = 1000
#: Spellings of UTC; the simulation has no candles of other time zones.
_UTC: Final = re.compile(r"[+-]?0{1,2}(:00)?")

_names = msgspec.json.Decoder(list[str])


class Parameters:
    """A request's parameters. Each method raises Problem for a value that Binance refuses."""

    def __init__(self, query: Mapping[str, str], legal: Collection[str]) -> None:
        if unread := query.keys() - set(legal):
            raise Problem.unread(len(query) - len(unread), len(query))
        self._query = query

    def text(self, name: str) -> str | None:
        """Returns an optional value."""
        value = self._query.get(name)
        if value == "":
            raise Problem(-1105, f"Parameter '{name}' was empty.")
        return value

    def needed(self, name: str) -> str:
        """Returns a mandatory value."""
        if not (value := self._query.get(name)):
            raise Problem.missing(name)
        return value

    def choice(self, name: str, choices: Collection[str], default: str) -> str:
        """Returns one of several values."""
        value = self.text(name) or default
        if value not in choices:
            raise Problem.invalid(name)
        return value

    def number(self, name: str) -> int | None:
        """Returns an optional integer."""
        if (value := self.text(name)) is None:
            return None
        if not _NUMBER.fullmatch(value):
            raise Problem.illegal(name, _LEGAL_NUMBER)
        return int(value)

    def limit(self, default: int, most: int) -> int:
        """Returns the number of rows that the client wants, at most the greatest that Binance sends."""
        value = self.number("limit")
        if value == 0:
            raise Problem.invalid("limit")
        return min(value or default, most)

    def symbol(self, known: Callable[[str], bool]) -> str:
        """Returns the mandatory symbol."""
        return _checked(self.needed("symbol"), known)

    def symbols(self, known: Callable[[str], bool]) -> list[str] | None:
        """Returns the symbols of `symbol` or `symbols`; None without both."""
        one, several = self.text("symbol"), self.text("symbols")
        if one and several:
            raise Problem(-1128, "Combination of optional parameters invalid.")
        if one:
            return [_checked(one, known)]
        return None if several is None else [_checked(each, known) for each in _listed(several)]

    def utc_only(self) -> None:
        """Refuses time zones other than UTC."""
        if (zone := self.text("timeZone")) and not _UTC.fullmatch(zone):
            raise Problem.invalid("timeZone")


def _listed(text: str) -> list[str]:
    try:
        names = _names.decode(text)
    except ValueError:
        names = []
    if not names or not all(map(_SYMBOL.fullmatch, names)):
        raise Problem.illegal("symbols", _LEGAL_SYMBOLS)
    if len(names) > _MAX_SYMBOLS:
        raise Problem(-1101, f"Too many parameters; expected '{_MAX_SYMBOLS}' and received '{len(names)}'.")
    return names


def _checked(symbol: str, known: Callable[[str], bool]) -> str:
    if not _SYMBOL.fullmatch(symbol):
        raise Problem.illegal("symbol", _LEGAL_SYMBOL)
    if not known(symbol):
        raise Problem(-1121, "Invalid symbol.")
    return symbol
