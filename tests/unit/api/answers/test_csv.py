"""CSV: lines, quotes, exact digits, and cells that a spreadsheet would run."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.api.answers.csv import CsvTable
from quotecast.csv_text import write_csv

TABLE = CsvTable(("a", "b"), lambda rows: rows)


def test_lines_end_with_crlf_and_cells_have_quotes_where_needed() -> None:
    """As RFC 4180, sections 2.1, 2.6 and 2.7."""
    assert write_csv(("a", "b"), [["x, y", 'an "inch"'], ["two\nlines", "Gümüş"]]) == (
        'a,b\r\n"x, y","an ""inch"""\r\n"two\nlines",Gümüş\r\n'.encode()
    )


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+A1",
        "-A1",
        "@SUM(A1)",
        "\tA1",
        "\rA1",
        "=HYPERLINK()",
        "-",
        "+",
        " =1",
        "\n=1",
        "\uff1d1+1",
        "\uff20A1",
        "\n",
    ],
)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    (cells,) = csv.reader(io.StringIO(write_csv([text], []).decode(), newline=""))
    assert cells == [text]  # names of columns are our own
    _, cells = csv.reader(io.StringIO(write_csv(["a"], [[text]]).decode(), newline=""))
    assert cells == [f"'{text}"]


@pytest.mark.parametrize("text", ["-1", "+1.5", "-0.00000001", "-1e-7", "12", "AAPL", "a-b", ""])
def test_a_number_stays_a_number(text: str) -> None:
    _, cells = csv.reader(io.StringIO(write_csv(["a", "b"], [[text, "x"]]).decode(), newline=""))
    assert cells == [text, "x"]


def test_the_json_and_the_table_have_the_same_digits() -> None:
    body = b'[{"a":0.10,"b":-1e-9},{"b":123456789012345678901.5,"a":null},{"a":true,"b":-7}]'
    assert TABLE.csv_of(body) == b"a,b\r\n0.10,-1e-9\r\n,123456789012345678901.5\r\ntrue,-7\r\n"


def test_a_table_without_rows_has_its_header() -> None:
    assert TABLE.csv_of(b"[]") == b"a,b\r\n"


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_any_text_survives(rows: list[list[str]]) -> None:
    """A reader gets every cell back, apart from the apostrophe of formulas."""
    text = write_csv(("a", "b"), rows).decode()
    _, *found = csv.reader(io.StringIO(text, newline=""))
    assert [[cell.removeprefix("'") for cell in row] for row in found] == [
        [cell.removeprefix("'") for cell in row] for row in rows
    ]
