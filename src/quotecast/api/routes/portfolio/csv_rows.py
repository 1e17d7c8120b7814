"""Files of CSV that users import: their lines by column, and the decimal sign of their numbers."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeVar

from quotecast.errors import FieldProblem, InvalidRows, InvalidValue

MAX_ROWS: Final = 1000
#: Problems that one answer names.
MAX_PROBLEMS: Final = 100

_DECIMAL: Final = re.compile(r"-?[0-9]+(?P<sign>[.,])[0-9]+(?:[eE][+-]?[0-9]+)?")
#: May mean thousands or decimals.
_TWO_MEANINGS: Final = re.compile(r"-?[1-9][0-9]{0,2}[.,][0-9]{3}")
_THOUSANDS: Final = re.compile(r"-?[0-9]{1,3}(?P<sign>[.,' \u00a0\u202f])[0-9]{3}[0-9.,]*")
_SIGN_NAMES: Final = {".": "point", ",": "comma"}

#: The decimal sign of a file.
Sign = Literal[".", ","]

T = TypeVar("T")


class _Row(NamedTuple):
    """A line's number in the file, and its cells by column; empty cells are left out."""

    line: int
    cells: Mapping[str, str]


def records_of(
    body: bytes,
    make: Callable[[Mapping[str, str], Sign | None], T],
    *,
    known: Sequence[str],
    required: Sequence[str],
    numbers: Sequence[str],
    most: int = MAX_ROWS,
) -> list[T]:
    """Returns what `make` reads from the cells of each line, by the decimal sign of the file's numbers.

    Columns may stand in any order. A header with semicolons makes semicolons the separators. Raises
    InvalidRows with the problem of each wrong line, and for text that is not such a file.
    """
    rows, delimiter = _rows_of(body, known, required, most)
    sign = _decimal_sign_of(rows, numbers) or ("." if delimiter == "," else None)
    records: list[T] = []
    problems: list[FieldProblem] = []
    for row in rows:
        if missing := [column for column in required if column not in row.cells]:
            problems.append(FieldProblem(missing[0], "Must be given", row.line))
            continue
        try:
            records.append(make(row.cells, sign))
        except InvalidValue as error:
            problems.append(FieldProblem(error.field, str(error), row.line))
    if problems:
        raise InvalidRows(problems[:MAX_PROBLEMS])
    return records


def _decimal_sign_of(rows: Sequence[_Row], numbers: Sequence[str]) -> Sign | None:
    """Returns the sign of the first number that cannot mean thousands; None without one."""
    for cell in (row.cells.get(column, "") for row in rows for column in numbers):
        found = _DECIMAL.fullmatch(cell)
        if found and not _TWO_MEANINGS.fullmatch(cell):
            return "." if found["sign"] == "." else ","
    return None


def number_cell(column: str, text: str, sign: Sign | None) -> bytes:
    """Returns the text of a JSON number. `sign` is the file's decimal sign, None if no number shows it."""
    found = _DECIMAL.fullmatch(text)
    if found and (used := found["sign"]) != sign:
        if _TWO_MEANINGS.fullmatch(text):
            whole, decimal = text.replace(used, ""), text.replace(used, sign or used)
            raise InvalidValue(
                column, f"Write {whole} or {decimal}0: the {_SIGN_NAMES[used]} has two meanings"
            )
        other = "," if used == "." else "."
        raise InvalidValue(
            column, f"Write {text.replace(used, other)}: the file's decimal sign is the {_SIGN_NAMES[other]}"
        )
    if not found and (grouped := _THOUSANDS.fullmatch(text)):
        whole = text.replace(grouped["sign"], "").replace(",", ".").replace(".", sign or ".")
        raise InvalidValue(column, f"Write {whole}: thousands have no separator")
    return text.replace(",", ".").encode() if found else text.encode()


def _rows_of(body: bytes, known: Sequence[str], required: Sequence[str], most: int) -> tuple[list[_Row], str]:
    """Returns the lines that are not blank, at most so many, and what separates their cells.

    The header has the required columns, and others of the known ones. Raises InvalidRows for text that is not
    such a file.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refusal("", "Must be UTF-8", body.count(b"\n", 0, error.start) + 1) from error
    first = text.partition("\n")[0]
    delimiter = ";" if ";" in first and "," not in first else ","
    lines = _lines_of(text, delimiter)
    header = next(lines, None)
    if header is None:
        raise _refusal("", "Must begin with a header line", 1)
    columns = _columns_of(*header, known=known, required=required)
    rows: list[_Row] = []
    for line, cells in lines:
        if len(rows) == most:
            raise _refusal("", f"Must have at most {most} rows", line)
        if len(cells) != len(columns):
            raise _refusal("", f"Must have {len(columns)} cells, like the header", line)
        named = zip(columns, (cell.strip() for cell in cells), strict=True)
        rows.append(_Row(line, {column: cell for column, cell in named if cell}))
    if not rows:
        raise _refusal("", "Must have at least one row", header[0])
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
        problem = "Must be CSV: a quoted cell does not end, or a cell is too long"
        raise _refusal("", problem, line) from error


def _columns_of(
    line: int, cells: Sequence[str], *, known: Sequence[str], required: Sequence[str]
) -> list[str]:
    columns = [cell.strip().lower() for cell in cells]
    for column in required:
        if column not in columns:
            raise _refusal(column, "Must be a column of the header", line)
    if not set(columns) <= {*known} or len({*columns}) != len(columns):
        raise _refusal("", f"The header must have each column once: {', '.join(known)}", line)
    return columns


def _refusal(column: str, message: str, line: int) -> InvalidRows:
    return InvalidRows([FieldProblem(column, message, line)])
