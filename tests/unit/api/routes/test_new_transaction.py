"""The transaction that a request adds, also one that was proposed."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from quotecast.api.routes.portfolio.proposals import proposed
from quotecast.api.routes.portfolio.transactions import AMOUNTS, NewTransaction, transaction_of
from quotecast.errors import InvalidValue
from quotecast.market import codec
from quotecast.market.actions import CorporateAction
from quotecast.portfolio.ledger import Transaction
from support.made.factories import full_mirrors

NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)
SPLIT = {"type": "split", "ticker": "AAPL", "date": "2026-05-04"}


def enter(body: dict[str, Any]) -> Transaction:
    given = msgspec.json.decode(json.dumps(body), type=NewTransaction)
    amounts = {
        name: bytes(number) for name in AMOUNTS if (number := getattr(given, name)) is not msgspec.UNSET
    }
    return transaction_of(given, amounts, full_mirrors(), "0" * 24, NOW)


@pytest.mark.parametrize("shares", [("1", "10000"), ("10000", "1"), ("0.3", "3000"), ("3000", "0.3")])
def test_a_split_of_ten_thousand_is_the_largest(shares: tuple[str, str]) -> None:
    """The bound is exact, in both directions."""
    old, new = map(Decimal, shares)
    added = enter(SPLIT | {"old_shares": float(old), "new_shares": float(new)})
    assert (added.old_shares, added.new_shares) == (old, new)
    name = "old_shares" if old > new else "new_shares"
    beyond = {"old_shares": float(old), "new_shares": float(new)}
    with pytest.raises(InvalidValue, match="at most 10000 times"):
        enter(SPLIT | beyond | {name: beyond[name] + 0.00000001})


@pytest.mark.parametrize(("ratio", "shown"), [(1 + 0.14, 1.14), (1 / 3, 0.33333333), (4.0, 4)])
def test_a_proposal_can_be_entered(ratio: float, shown: float) -> None:
    """Its shares have at most 8 decimals, whatever the provider's floating-point number has."""
    day = date(2026, 5, 4)
    action = CorporateAction(
        id="1", type="split", symbol="AAPL", ex_day=day, provider="test", old_shares=1.0, new_shares=ratio
    )
    held = enter({"type": "buy", "ticker": "AAPL", "date": "2026-03-02", "shares": 10, "price": 1})
    (found,) = json.loads(codec.encode_json(proposed([held], [action], NOW.date())))
    assert (found["old_shares"], found["new_shares"], found["held"]) == (1, shown, 10)
    added = enter({name: found[name] for name in (*SPLIT, "currency", "old_shares", "new_shares")})
    assert added.new_shares == Decimal(repr(shown))
