"""Tables of answers in CSV: exact digits, and a header without rows."""

from quotecast.api.answers.csv import CsvTable

TABLE = CsvTable(("a", "b"), lambda rows: rows)


def test_the_json_and_the_table_have_the_same_digits() -> None:
    body = b'[{"a":0.10,"b":-1e-9},{"b":123456789012345678901.5,"a":null},{"a":true,"b":-7}]'
    assert TABLE.csv_of(body) == b"a,b\r\n0.10,-1e-9\r\n,123456789012345678901.5\r\ntrue,-7\r\n"


def test_a_table_without_rows_has_its_header() -> None:
    assert TABLE.csv_of(b"[]") == b"a,b\r\n"
