"""The periods of a portfolio whose returns are answered."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from quotecast.api.prices.closes import DayRates
from quotecast.api.routes.portfolio.portfolio_value import periods_of
from quotecast.portfolio.ledger import Transaction
from quotecast.portfolio.returns import money_weighted, time_weighted

FIRST = date(2026, 11, 2)
DAYS = [FIRST + timedelta(days=number) for number in range(21)]


def entry(kind: Any, day: date, currency: str = "USD", **amounts: str) -> Transaction:
    return Transaction(
        id="0" * 24,
        type=kind,
        ticker="AAPL",
        date=day,
        currency=currency,
        created_at=datetime(2026, 11, 20, tzinfo=UTC),
        **{name: Decimal(text) for name, text in amounts.items()},
    )


@pytest.mark.parametrize("ago", [1, 2, 5, 20])
def test_returns_begin_with_the_first_purchase_that_counts(ago: int) -> None:
    """The days of an older ticker that no feed has change no return."""
    bought = DAYS[-1] - timedelta(days=ago)
    values = [110.0 if day == DAYS[-1] else 100.0 if day >= bought else 0.0 for day in DAYS]
    found = periods_of([entry("buy", bought, shares="1", price="100")], DayRates({"USD": []}), DAYS, values)
    assert (found[0].before, found[0].day, found[0].paid_in) == (bought, bought, 100.0)
    assert money_weighted(found) == pytest.approx(0.1)
    assert time_weighted(found) == pytest.approx(0.1)


def test_a_split_needs_no_rate() -> None:
    """It has no amounts, so its currency may be one without a rate on that day."""
    buy = entry("buy", FIRST, "TRY", shares="10", price="100")
    split = entry("split", DAYS[2], old_shares="1", new_shares="2")
    rates = DayRates({"TRY": [], "USD": None})
    values = [1000.0] * len(DAYS)
    assert periods_of([buy, split], rates, DAYS, values) == periods_of([buy], rates, DAYS, values) != []
