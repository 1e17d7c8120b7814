"""Documents have every setting, secret, command and error, as the code defines it."""

import pytest

from docs.code_tables import TABLES, with_tables
from docs.pages import page
from quotecast.api.reference.error_codes import error_rows


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_of_the_code(name: str) -> None:
    """The tables equal names, defaults, meanings and remedies in the code; `just docs-tables` writes them."""
    assert with_tables(name, page(name)) == page(name), "run `just docs-tables`"


def test_every_error_has_one_cause_and_one_remedy() -> None:
    """A class that clients meet says both; two classes with one code say the same."""
    rows = error_rows()
    assert [row.code for row in rows if not (row.cause and row.remedy)] == []
    assert len({row.code for row in rows}) == len(rows)
