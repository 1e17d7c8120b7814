"""The list of stocks, with the operator's CSV file."""

from pathlib import Path

import pytest

from quotecast.errors import SettingsError
from quotecast.market.reference import Stock, stocks
from quotecast.providers.alpaca.universe import load_stocks

APPLE = Stock("AAPL", "Apple Inc.", "NASDAQ", "Information Technology", "Hardware", 100, 270.0)
MICROSOFT = Stock("MSFT", "Microsoft", "NASDAQ", "Information Technology", "Software", 50, 500.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "stocks.csv"


def test_without_a_file_the_table_is_unchanged() -> None:
    assert load_stocks(stocks(), None) == list(stocks())


def test_rows_add_and_override(file: Path) -> None:
    """An empty field of a row keeps the table's value, or its default."""
    file.write_text("ticker,name,sector,industry\nMSFT,,Technology,\nabnb,Airbnb,,\n\nZZZ,,,\n")
    assert load_stocks([MICROSOFT, APPLE], file) == [
        APPLE,
        Stock("ABNB", "Airbnb", "", "Other", "Other", 0, 0.0),
        Stock("MSFT", "Microsoft", "NASDAQ", "Technology", "Software", 50, 500.0),
        Stock("ZZZ", "ZZZ", "", "Other", "Other", 0, 0.0),
    ]


def test_public_list_of_companies_is_read_as_it_is(file: Path) -> None:
    """The public list of S&P 500 companies has other column names, another order and quoted line breaks."""
    file.write_text(
        "\ufeffSymbol,Security,GICS Sector,GICS Sub-Industry,Headquarters Location,Founded\r\n"
        'BRK.B,"Berkshire\r\nHathaway, Inc.",Financials,Multi-Sector Holdings,"Omaha, Nebraska",1839\r\n'
    )
    [stock] = load_stocks([], file)
    assert (stock.ticker, stock.sector, stock.industry) == ("BRK.B", "Financials", "Multi-Sector Holdings")
    assert stock.name.startswith("Berkshire")


def test_our_own_column_names_win(file: Path) -> None:
    file.write_text("Symbol,ticker\nX,AAPL\n")
    assert [stock.ticker for stock in load_stocks([], file)] == ["AAPL"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", ":1:"),
        (b"name,sector\nApple,Technology\n", ":1:"),
        (b"ticker,name\nAAPL,Apple\nMSFT\n", ":3:"),
        (b"ticker,name\nAAPL,Apple\n\n../x,Y\n", ":4:"),
        (b"ticker,name\n,Nameless\n", ":2:"),
        (b'ticker,name\nAAPL,"Apple\n', ":2:"),
        (b"ticker,name\nAAPL,Apple\nMSFT,\xff\n", ":3:"),
    ],
    ids=["empty", "no ticker column", "short row", "no ticker", "empty ticker", "open quote", "not UTF-8"],
)
def test_bad_file_is_refused_with_its_line(file: Path, content: bytes, line: str) -> None:
    file.write_bytes(content)
    with pytest.raises(SettingsError, match=f"stocks.csv{line}"):
        load_stocks([APPLE], file)


def test_missing_file_is_refused(file: Path) -> None:
    with pytest.raises(SettingsError, match=r"stocks\.csv cannot be read"):
        load_stocks([APPLE], file)
