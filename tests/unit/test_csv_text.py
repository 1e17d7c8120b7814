"""CSV: lines, quotes, and cells that a spreadsheet would run."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.csv_text import write_csv


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


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_any_text_survives(rows: list[list[str]]) -> None:
    """A reader gets every cell back, apart from the apostrophe of formulas."""
    text = write_csv(("a", "b"), rows).decode()
    _, *found = csv.reader(io.StringIO(text, newline=""))
    assert [[cell.removeprefix("'") for cell in row] for row in found] == [
        [cell.removeprefix("'") for cell in row] for row in rows
    ]
