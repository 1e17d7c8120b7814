"""The tables of answers in CSV: columns have the names and the order of the JSON's fields."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from quotecast.api.answers.csv import CsvTable
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.movers import Mover
from quotecast.market.moves import common_fields

Row = Mapping[str, Any]


def columns(kind: type[Struct]) -> tuple[str, ...]:
    """Returns the names of a struct's fields in JSON, but for those that a quote has at times only."""
    return tuple(field.encode_name for field in common_fields(kind))


def _bars_by_symbol(by_symbol: Mapping[str, Iterable[Row]]) -> Iterator[Row]:
    return ({"symbol": symbol, **bar} for symbol, bars in by_symbol.items() for bar in bars)


def _movers(lists: Mapping[str, Any]) -> Iterator[Row]:
    return ({"list": name, **mover} for name in ("gainers", "losers") for mover in lists[name])


QUOTES: Final = {feed: CsvTable(columns(feed.spec.quote), dict.values) for feed in Feed}
QUOTE: Final = {feed: CsvTable(columns(feed.spec.quote), lambda row: [row]) for feed in Feed}
BARS: Final = CsvTable(columns(Bar))
BARS_BY_SYMBOL: Final = CsvTable(("symbol", *columns(Bar)), _bars_by_symbol)
MOVERS: Final = CsvTable(("list", *columns(Mover)), _movers)
