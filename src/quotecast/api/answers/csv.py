"""CSV (RFC 4180) from the JSON of an answer: a header line, then a line for each row."""

import asyncio
import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from litestar.params import QueryParameter

from quotecast.api.answers.answers import APART_FROM, Answer

CSV: Final = b"text/csv; charset=utf-8; header=present"
#: The name of the query parameter.
FORMAT: Final = "format"

Format = Annotated[
    Literal["json", "csv"],
    QueryParameter(
        name=FORMAT,
        description="`csv` answers a table (RFC 4180, UTF-8) with a header line instead of JSON",
    ),
]

#: Characters with which spreadsheets begin a formula, also after spaces; some read the wide ones as narrow.
_FORMULA: Final = "=+-@＝＋－＠"  # noqa: RUF001 - meant
_BLANKS: Final = "\t\r\n"
_NUMBER: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
#: Numbers with a fraction stay the text that the JSON has, so that no digit changes.
_decode: Final = msgspec.json.Decoder(float_hook=str).decode


class CsvTable(NamedTuple):
    """The columns of an answer's table, and a function that takes its rows from the decoded JSON."""

    columns: tuple[str, ...]
    rows: Callable[[Any], Iterable[Mapping[str, Any]]] = lambda rows: rows

    def csv_of(self, body: bytes) -> bytes:
        """Returns the table of a JSON document; a row without a column has an empty cell there."""
        return write_csv(
            self.columns, ([row.get(each) for each in self.columns] for row in self.rows(_decode(body)))
        )


def formatted(answer: Answer, form: Format, table: CsvTable) -> Answer:
    """Returns a JSON answer in the requested format, with the same headers and tag."""
    return answer if form == "json" else answer.converted(table.csv_of, CSV)


async def formatted_apart(answer: Answer, form: Format, table: CsvTable) -> Answer:
    """Returns the same; makes tables of thousands of rows in a thread: 10,000 bars take 40 ms."""
    if form == "json" or len(answer.body) < APART_FROM:
        return formatted(answer, form, table)
    return await asyncio.to_thread(formatted, answer, form, table)


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Returns the file: lines end with CRLF, unknown values are empty.

    A text that a spreadsheet would run as a formula gets a leading apostrophe; numbers stay numbers.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([*map(_cell, row)] for row in rows)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    """Returns a value that the writer turns into a harmless cell."""
    if isinstance(value, str) and value and not _NUMBER.fullmatch(value):
        first = value.lstrip()[:1]
        if value[0] in _BLANKS or (first and first in _FORMULA):
            return f"'{value}"
    return str(value).lower() if isinstance(value, bool) else value
