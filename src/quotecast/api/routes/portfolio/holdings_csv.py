"""Holdings as CSV (RFC 4180): a header line, then a line for each holding."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from quotecast.api.answers.csv import write_csv
from quotecast.api.market.lookup import Mirrors
from quotecast.api.routes.portfolio.csv_rows import (
    MAX_PROBLEMS,
    Sign,
    decimal_sign_of,
    number_cell,
    rows_of,
)
from quotecast.api.routes.portfolio.holding_values import (
    bought_at_of,
    cost_of,
    currency_code,
    shares_of,
    ticker_of,
    today_of,
)
from quotecast.errors import FieldProblem, InvalidRows, InvalidValue
from quotecast.market import money
from quotecast.portfolio.portfolio import Holding

COLUMNS: Final = ("ticker", "shares", "avg_cost", "bought_at", "currency")

_REQUIRED: Final = COLUMNS[:3]
_NUMBERS: Final = ("shares", "avg_cost")


def holdings_csv(holdings: Iterable[Holding]) -> bytes:
    """Returns the file of holdings, oldest first, with exact amounts."""
    return write_csv(COLUMNS, map(_cells, sorted(holdings, key=lambda holding: holding.id)))


def _cells(holding: Holding) -> list[str]:
    amounts = (f"{money.without_zeros(amount):f}" for amount in (holding.shares, holding.avg_cost))
    return [holding.ticker, *amounts, holding.bought_at.isoformat(), holding.currency]


def holdings_of(body: bytes, mirrors: Mirrors, ids: Sequence[str], now: datetime) -> list[Holding]:
    """Returns the holdings of a file, in its order, with the given ids. Raises InvalidRows.

    Columns may stand in any order; `bought_at` and `currency` may be missing or empty. A header with
    semicolons makes semicolons the separators.
    """
    rows, delimiter = rows_of(body, COLUMNS, _REQUIRED)
    sign = decimal_sign_of(rows, _NUMBERS) or ("." if delimiter == "," else None)
    holdings: list[Holding] = []
    problems: list[FieldProblem] = []
    for holding_id, row in zip(ids, rows, strict=False):
        try:
            holdings.append(_holding_of(row.cells, sign, mirrors, holding_id, now))
        except InvalidValue as error:
            problems.append(FieldProblem(error.field, str(error), row.line))
    if problems:
        raise InvalidRows(problems[:MAX_PROBLEMS])
    return holdings


def _holding_of(
    cells: Mapping[str, str], sign: Sign | None, mirrors: Mirrors, holding_id: str, now: datetime
) -> Holding:
    for column in _REQUIRED:
        if column not in cells:
            raise InvalidValue(column, "Missing")
    ticker = ticker_of(cells["ticker"], mirrors)
    return Holding(
        id=holding_id,
        ticker=ticker,
        shares=shares_of(number_cell("shares", cells["shares"], sign)),
        avg_cost=cost_of(number_cell("avg_cost", cells["avg_cost"], sign)),
        bought_at=bought_at_of(cells["bought_at"], now)
        if "bought_at" in cells
        else today_of(ticker, mirrors, now),
        currency=currency_code("currency", cells.get("currency", "USD")),
        created_at=now,
    )
