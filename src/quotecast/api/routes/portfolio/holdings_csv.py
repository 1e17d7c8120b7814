"""Holdings as CSV (RFC 4180): a header line, then a line for each holding."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

from quotecast.api.answers.csv import write_csv
from quotecast.api.market.lookup import Mirrors
from quotecast.api.routes.portfolio.holding_values import (
    bought_at_of,
    cost_of,
    currency_code,
    shares_of,
    ticker_of,
    today_of,
)
from quotecast.errors import FieldProblem, InvalidRows, InvalidValue
from quotecast.market import money
from quotecast.portfolio.portfolio import Holding

COLUMNS: Final = ("ticker", "shares", "avg_cost", "bought_at", "currency")
MAX_ROWS: Final = 1000
#: Problems that one answer names.
MAX_PROBLEMS: Final = 100

_REQUIRED: Final = COLUMNS[:3]
_NUMBERS: Final = ("shares", "avg_cost")
_DECIMAL: Final = re.compile(r"-?[0-9]+(?P<sign>[.,])[0-9]+(?:[eE][+-]?[0-9]+)?")
#: May mean thousands or decimals.
_TWO_MEANINGS: Final = re.compile(r"-?[1-9][0-9]{0,2}[.,][0-9]{3}")
_THOUSANDS: Final = re.compile(r"-?[0-9]{1,3}(?P<sign>[.,' \u00a0\u202f])[0-9]{3}[0-9.,]*")
_SIGN_NAMES: Final = {".": "point", ",": "comma"}

#: The decimal sign of a file.
Sign = Literal[".", ","]


class Row(NamedTuple):
    """A line's number in the file, and its cells by column; empty cells are left out."""

    line: int
    cells: Mapping[str, str]


def holdings_csv(holdings: Iterable[Holding]) -> bytes:
    """Returns the file of holdings, oldest first, with exact amounts."""
    return write_csv(COLUMNS, map(_cells, sorted(holdings, key=lambda holding: holding.id)))


def _cells(holding: Holding) -> list[str]:
    amounts = (f"{money.without_zeros(amount):f}" for amount in (holding.shares, holding.avg_cost))
    return [holding.ticker, *amounts, holding.bought_at.isoformat(), holding.currency]


def holdings_of(body: bytes, mirrors: Mirrors, ids: Sequence[str], now: datetime) -> list[Holding]:
    """Returns the holdings of a file, in its order, with the given ids. Raises InvalidRows.

    Columns may stand in any order; `bought_at` and `currency` may be missing or empty. A header with
    semicolons makes semicolons the separators.
    """
    rows, delimiter = _rows_of(body)
    sign = _decimal_sign_of(rows) or ("." if delimiter == "," else None)
    holdings: list[Holding] = []
    problems: list[FieldProblem] = []
    for holding_id, row in zip(ids, rows, strict=False):
        try:
            holdings.append(_holding_of(row.cells, sign, mirrors, holding_id, now))
        except InvalidValue as error:
            problems.append(FieldProblem(error.field, str(error), row.line))
    if problems:
        raise InvalidRows(problems[:MAX_PROBLEMS])
    return holdings


def _holding_of(
    cells: Mapping[str, str], sign: Sign | None, mirrors: Mirrors, holding_id: str, now: datetime
) -> Holding:
    for column in _REQUIRED:
        if column not in cells:
            raise InvalidValue(column, "Missing")
    ticker = ticker_of(cells["ticker"], mirrors)
    return Holding(
        id=holding_id,
        ticker=ticker,
        shares=shares_of(_number("shares", cells["shares"], sign)),
        avg_cost=cost_of(_number("avg_cost", cells["avg_cost"], sign)),
        bought_at=bought_at_of(cells["bought_at"], now)
        if "bought_at" in cells
        else today_of(ticker, mirrors, now),
        currency=currency_code("currency", cells.get("currency", "USD")),
        created_at=now,
    )


def _decimal_sign_of(rows: Sequence[Row]) -> Sign | None:
    """Returns the sign of the first number that cannot mean thousands; None without one."""
    for cell in (row.cells.get(column, "") for row in rows for column in _NUMBERS):
        found = _DECIMAL.fullmatch(cell)
        if found and not _TWO_MEANINGS.fullmatch(cell):
            return "." if found["sign"] == "." else ","
    return None


def _number(column: str, text: str, sign: Sign | None) -> bytes:
    """Returns the text of a JSON number. `sign` is the file's decimal sign, None if no number shows it."""
    found = _DECIMAL.fullmatch(text)
    if found and found["sign"] != sign:
        _refuse_sign(column, text, found["sign"], sign)
    if not found and (grouped := _THOUSANDS.fullmatch(text)):
        whole = text.replace(grouped["sign"], "").replace(",", ".")
        raise InvalidValue(column, f"Write {whole}: thousands have no separator")
    return text.replace(",", ".").encode() if found else text.encode()


def _refuse_sign(column: str, text: str, used: str, sign: Sign | None) -> None:
    """Raises InvalidValue for a number whose sign is not the file's."""
    other = "," if used == "." else "."
    if _TWO_MEANINGS.fullmatch(text):
        whole, decimal = text.replace(used, ""), text.replace(used, sign or used)
        raise InvalidValue(column, f"Write {whole} or {decimal}0: the {_SIGN_NAMES[used]} has two meanings")
    raise InvalidValue(
        column, f"Write {text.replace(used, other)}: the file's decimal sign is the {_SIGN_NAMES[other]}"
    )


def _rows_of(body: bytes) -> tuple[list[Row], str]:
    """Returns the lines that are not blank, and what separates their cells.

    Raises InvalidRows for text that is no such file.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refusal("", "Not UTF-8", body.count(b"\n", 0, error.start) + 1) from error
    first = text.partition("\n")[0]
    delimiter = ";" if ";" in first and "," not in first else ","
    lines = _lines_of(text, delimiter)
    header = next(lines, None)
    if header is None:
        raise _refusal("", "No header line", 1)
    columns = _columns_of(*header)
    rows: list[Row] = []
    for line, cells in lines:
        if len(rows) == MAX_ROWS:
            raise _refusal("", f"At most {MAX_ROWS} rows", line)
        if len(cells) != len(columns):
            raise _refusal("", f"{len(columns)} cells, as in the header", line)
        named = zip(columns, (cell.strip() for cell in cells), strict=True)
        rows.append(Row(line, {column: cell for column, cell in named if cell}))
    if not rows:
        raise _refusal("", "No rows", header[0])
    return rows, delimiter


def _lines_of(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the number and the cells of each line that is not blank. Raises InvalidRows."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise _refusal("", "Not CSV: a quote without its end, or a cell that is too long", line) from error


def _columns_of(line: int, cells: Sequence[str]) -> list[str]:
    columns = [cell.strip().lower() for cell in cells]
    for column in _REQUIRED:
        if column not in columns:
            raise _refusal(column, "The header lacks this column", line)
    if not set(columns) <= {*COLUMNS} or len({*columns}) != len(columns):
        raise _refusal("", f"The header has each column once: {', '.join(COLUMNS)}", line)
    return columns


def _refusal(column: str, message: str, line: int) -> InvalidRows:
    return InvalidRows([FieldProblem(column, message, line)])
