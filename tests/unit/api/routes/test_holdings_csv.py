"""Holdings as CSV: round trips, tolerated spellings, and problems by line and column."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.api.routes.portfolio.csv_rows import MAX_PROBLEMS, MAX_ROWS
from quotecast.api.routes.portfolio.portfolio_csv import holdings_csv, holdings_of
from quotecast.errors import InvalidRows
from quotecast.portfolio.portfolio import Holding
from support.made.factories import NOW, full_mirrors

MIRRORS = full_mirrors()
MOMENT = datetime.fromtimestamp(NOW, UTC)
IDS = [f"{number:024x}" for number in range(MAX_ROWS)]
HEADER = "ticker,shares,avg_cost,bought_at,currency\n"

AMOUNTS = st.decimals("1e-8", 999_999_999_999, places=8)
HOLDINGS = st.builds(
    Holding,
    id=st.just(""),
    ticker=st.sampled_from(["AAPL", "BTC/USDT", "gram-altin", "akbank-USD", "BRK.B", "UNKNOWN", "1/2"]),
    shares=AMOUNTS,
    avg_cost=st.one_of(st.just(Decimal(0)), AMOUNTS),
    bought_at=st.dates(date(1900, 1, 1), MOMENT.date()),
    currency=st.sampled_from(["USD", "TRY", "EUR"]),
    created_at=st.just(MOMENT),
)


def read(text: str | bytes) -> list[Holding]:
    body = text if isinstance(text, bytes) else text.encode()
    return holdings_of(body, MIRRORS, IDS, MOMENT)


def problems(text: str | bytes) -> list[tuple[object, str]]:
    with pytest.raises(InvalidRows) as raised:
        read(text)
    return [(each.line, each.field) for each in raised.value.problems]


@given(st.lists(HOLDINGS, min_size=1, max_size=20))
def test_an_export_imports_exactly(made: list[Holding]) -> None:
    """The holdings come back in their order with every digit."""
    numbered = [
        Holding(IDS[place], each.ticker, each.shares, each.avg_cost, each.bought_at, each.currency, MOMENT)
        for place, each in enumerate(made)
    ]
    body = holdings_csv(reversed(numbered))
    assert read(body) == numbered
    assert holdings_csv(read(body)) == body


@given(st.lists(HOLDINGS, min_size=1, max_size=5))
def test_no_cell_is_a_formula(made: list[Holding]) -> None:
    """A spreadsheet takes a cell that begins with one of `=+-@`, a tab or a return for a formula."""
    lines = holdings_csv(made).decode().split("\r\n")
    assert lines.pop() == ""
    assert all(cell[:1].isalnum() for line in lines for cell in line.split(","))


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "aapl,0.1,187.5,2026-03-02,usd\n",
        "\ufeff" + HEADER + "AAPL,0.1,187.50,2026-03-02,USD",
        HEADER.replace("\n", "\r\n") + "\r\n \r\nAAPL , 0.10,187.5, 2026-03-02 ,USD\r\n\r\n",
        "Currency;AVG_COST;shares;bought_at;ticker\nUSD;187,5;0,1;2026-03-02;AAPL\n",
        HEADER + '"AAPL","0,1","187,5",2026-03-02,USD\n',
        HEADER + "AAPL,1e-1,1.875e2,2026-03-02,USD\n",
        "ticker,shares,avg_cost,bought_at\nAAPL,0.1,187.5,2026-03-02\n",
        HEADER + "AAPL,0.1,187.5,2026-03-02,\n",
    ],
)
def test_spellings_of_one_holding(text: str) -> None:
    (holding,) = read(text)
    assert (holding.ticker, holding.shares, holding.avg_cost) == ("AAPL", Decimal("0.1"), Decimal("187.5"))
    assert (holding.bought_at, holding.currency) == (date(2026, 3, 2), "USD")


def test_the_default_day_is_today() -> None:
    assert read("ticker,shares,avg_cost\nAAPL,1,0\n")[0].bought_at == MOMENT.date()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [(1, "")]),
        (b"\xff\xfe", [(1, "")]),
        (HEADER.encode() + b"AAPL,1,1,,\n\xe7,1,1,,\n", [(3, "")]),
        (HEADER, [(1, "")]),
        ("ticker,avg_cost\nAAPL,1\n", [(1, "shares")]),
        ("ticker,shares,avg_cost,fee\nAAPL,1,1,1\n", [(1, "")]),
        ("ticker,shares,shares,avg_cost\nAAPL,1,1,1\n", [(1, "")]),
        (HEADER + "AAPL,1,1\n", [(2, "")]),
        (HEADER + '"AAPL,1,1,,\n', [(2, "")]),
        (HEADER + "AAPL" * 40_000 + ",1,1,,\n", [(2, "")]),
        (HEADER + "AAPL,1,1,,\n\n,1,1,,\nA B,1,1,,\n", [(4, "ticker"), (5, "ticker")]),
        (HEADER + "=cmd|'/C calc'!A0,1,1,,\n", [(2, "ticker")]),
        (HEADER + "AAPL,0,1,,\nAAPL,1,-1,,\n", [(2, "shares"), (3, "avg_cost")]),
        (HEADER + "AAPL,1,1,2027-01-01,\nAAPL,1,1,,TL\n", [(2, "bought_at"), (3, "currency")]),
        (HEADER + "VOD,1,1,,GBp\n", [(2, "currency")]),
        (HEADER.replace(",", ";") + "AAPL;1,234;1;;\n", [(2, "shares")]),
        (HEADER + '"AAPL","1,234.5",1,,\n', [(2, "shares")]),
        (HEADER + "AAPL,1e999999999,1,,\n", [(2, "shares")]),
        (HEADER + '"\n\n","1","1","",""\nAAPL,x,1,,\n', [(2, "ticker"), (5, "shares")]),
        (HEADER + "AAPL,1,1,,\n" * 1001, [(1002, "")]),
    ],
)
def test_problems_have_a_line_and_a_column(text: str | bytes, expected: list[tuple[int, str]]) -> None:
    """A problem of a whole line has an empty column; nothing is imported."""
    assert problems(text) == expected


def test_an_answer_names_a_hundred_problems() -> None:
    assert len(problems(HEADER + "AAPL,0,1,,\n" * MAX_ROWS)) == MAX_PROBLEMS


SEMICOLONS = HEADER.replace(",", ";")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("AAPL;1,234;1;;", 2, "Write 1234 or 1,2340: the comma has two meanings"),
        ("AAPL;1.234;1;;", 2, "Write 1234 or 1.2340: the point has two meanings"),
        ("AAPL;1,5;1.234;;", 2, "Write 1234 or 1,2340: the point has two meanings"),
        ("AAPL;1.234;1;;\nMSFT;1;1,5;;", 2, "Write 1234 or 1,2340: the point has two meanings"),
        ("AAPL;1.5;1,234;;", 2, "Write 1234 or 1.2340: the comma has two meanings"),
        ("AAPL;1.5;1;;\nMSFT;2,25;1;;", 3, "Write 2.25: the file's decimal sign is the point"),
        ("AAPL;1;1.000,92;;", 2, "Write 1000.92: thousands have no separator"),
        ("AAPL;1;1,000.92;;", 2, "Write 1000.92: thousands have no separator"),
        ("AAPL;1;12 345,5;;", 2, "Write 12345.5: thousands have no separator"),
        ("AAPL;1,5;1.234,56;;", 2, "Write 1234,56: thousands have no separator"),
        ("AAPL;1,5;1,234.56;;", 2, "Write 1234,56: thousands have no separator"),
        ("AAPL;1.5;1.234,56;;", 2, "Write 1234.56: thousands have no separator"),
    ],
)
def test_a_file_has_one_decimal_sign(text: str, line: int, message: str) -> None:
    """A number that the file does not make clear is refused, and the message says how to write it."""
    with pytest.raises(InvalidRows) as raised:
        read(SEMICOLONS + text + "\n")
    assert [(each.line, each.message) for each in raised.value.problems] == [(line, message)]


def test_a_number_of_three_decimals_means_what_the_others_show() -> None:
    commas = read(SEMICOLONS + "AAPL;1,5;1,234;;\n")[0]
    points = read(SEMICOLONS + "AAPL;1.5;1.234;;\n")[0]
    exported = read(HEADER + "AAPL,1,1.234,,\n")[0]
    assert commas.avg_cost == points.avg_cost == exported.avg_cost == Decimal("1.234")


@pytest.mark.parametrize(
    ("ticker", "moment", "day"),
    [
        ("gram-altin", datetime(2026, 11, 20, 22, tzinfo=UTC), date(2026, 11, 21)),
        ("AAPL", datetime(2026, 11, 21, 2, tzinfo=UTC), date(2026, 11, 20)),
        ("UNKNOWN", datetime(2026, 11, 21, 2, tzinfo=UTC), date(2026, 11, 21)),
    ],
)
def test_a_purchase_of_today_has_the_date_of_the_venue(ticker: str, moment: datetime, day: date) -> None:
    (holding,) = holdings_of(f"{HEADER}{ticker},1,1,,\n".encode(), MIRRORS, IDS, moment)
    assert holding.bought_at == day
