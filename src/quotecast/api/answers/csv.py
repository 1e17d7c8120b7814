"""CSV (RFC 4180) from the JSON of an answer: a header line, then a line for each row."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from litestar.params import QueryParameter

from quotecast.api.answers.answers import APART_FROM, Answer
from quotecast.csv_text import write_csv

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
