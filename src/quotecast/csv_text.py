"""CSV (RFC 4180) that spreadsheets open without harm."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

#: Characters with which spreadsheets begin a formula, also after spaces; some read the wide ones as narrow.
_FORMULA: Final = "=+-@＝＋－＠"  # noqa: RUF001 - meant
_BLANKS: Final = "\t\r\n"
_NUMBER: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


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
