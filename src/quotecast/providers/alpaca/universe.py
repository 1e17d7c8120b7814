"""US stocks: the quoted ones with company names, sectors and industries, and Alpaca's list of all."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from quotecast.errors import SettingsError, UpstreamError
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.reference import Stock
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.rest_wire import AssetRow
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows, readable

#: Accepted column names: ours, and those of the public list of S&P 500 companies.
COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "ticker": ("ticker", "symbol"),
    "name": ("name", "security"),
    "sector": ("sector", "gics sector"),
    "industry": ("industry", "gics sub-industry"),
}


def load_stocks(table: Sequence[Stock], override: Path | None) -> list[Stock]:
    """Returns the stocks of `table` and of the operator's CSV file, sorted by ticker.

    A row of the file adds a stock, or its non-empty fields override those of a stock in the table. Columns
    are found by name, in any case and order: ticker (or Symbol), name (Security), sector (GICS Sector) and
    industry (GICS Sub-Industry). Only ticker is required; other columns are ignored. Raises SettingsError
    with the line number.
    """
    stocks = {stock.ticker: stock for stock in table}
    for ticker, fields in _read_rows(override) if override else ():
        stock = stocks.get(ticker) or Stock(ticker, ticker, "", "Other", "Other", shares=0, price=0.0)
        stocks[ticker] = replace(stock, **fields)
    return [stocks[ticker] for ticker in sorted(stocks)]


def _read_rows(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yields the ticker and the non-empty fields of each row."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SettingsError(f"{path.name}:{line}: not in UTF-8") from error
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = _columns(next(lines, []), path)
        for cells in lines:
            if any(cell.strip() for cell in cells):
                yield _row(cells, columns, f"{path.name}:{lines.line_num}")
    except csv.Error as error:
        raise SettingsError(f"{path.name}:{lines.line_num}: {error}") from error


def _columns(header: Sequence[str], path: Path) -> Mapping[str, int]:
    """Returns the index of each column in the header."""
    names = [name.strip().lower() for name in header]
    positions = {
        column: names.index(name)
        for column, names_of_column in COLUMNS.items()
        for name in reversed(names_of_column)
        if name in names
    }
    if "ticker" not in positions:
        raise SettingsError(f"{path.name}:1: no column is named ticker or Symbol")
    return positions


def _row(cells: Sequence[str], columns: Mapping[str, int], place: str) -> tuple[str, Mapping[str, str]]:
    if len(cells) <= max(columns.values()):
        raise SettingsError(f"{place}: only {len(cells)} columns")
    values = {column: cells[position].strip() for column, position in columns.items()}
    ticker = canonical_symbol(Feed.STOCKS, values["ticker"])
    if ticker is None:
        raise SettingsError(f"{place}: {values['ticker']!r} is not a valid ticker")
    return ticker, {column: cell for column, cell in values.items() if cell and column != "ticker"}


class AlpacaAssets:
    """Active US stocks; `stocks` is the reference table with the sectors and industries that Alpaca lacks."""

    name = "alpaca"
    every_seconds = 86_400.0

    def __init__(self, rest: AlpacaRest, stocks: Sequence[Stock]) -> None:
        self._rest = rest
        self._stocks = {stock.ticker: stock for stock in stocks}
        self._refused = RefusalCounter("alpaca")

    async def assets(self) -> Sequence[Asset]:
        """See AssetsProvider; raises UpstreamError for an empty list."""
        params = {"status": "active", "asset_class": "us_equity"}
        answer = await self._rest.get_once("/v2/assets", list[Raw], params)
        rows = decode_rows(answer, AssetRow, self._refused)
        by_ticker: dict[str, Asset] = {}
        for asset in readable((row.to_asset(self._stocks) for row in rows if row.is_listed), self._refused):
            # A ticker appears twice while it passes from one company to another.
            known = by_ticker.get(asset.ticker, asset)
            by_ticker[asset.ticker] = max(known, asset, key=attrgetter("tradable"))
        if not by_ticker:
            raise UpstreamError("Alpaca lists no stocks")
        return [by_ticker[ticker] for ticker in sorted(by_ticker)]
