"""Paper accounts: nothing is made of nothing, and orders fill where the market is."""

from decimal import Decimal
from itertools import pairwise
from typing import Final, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.paper import Account, PaperAccounts, Refused

#: Thursday, 2026-11-19, 15:00 in New York.
START: Final = 1_795_118_400_000
BTC: Final = ("BTC", "USDT")

MARKET: Final = Market(7)


def accounts(*, fee: str = "0", of_received: bool = False, halted_until: int = 0) -> PaperAccounts:
    return PaperAccounts(
        MARKET,
        cash={"USDT": Decimal(100_000)},
        fee=Decimal(fee),
        fee_of_received=of_received,
        trades=lambda _symbol, moment: moment >= halted_until,
    )


def ask(moment: int) -> Decimal:
    return Decimal(str(MARKET.price("BTC/USDT", moment).ask))


def bid(moment: int) -> Decimal:
    return Decimal(str(MARKET.price("BTC/USDT", moment).bid))


@pytest.mark.parametrize(
    ("of_received", "coins", "cash"),
    [(False, Decimal("0.5"), Decimal("0.501")), (True, Decimal("0.499"), Decimal("0.5"))],
)
def test_a_market_order_fills_at_the_other_side(*, of_received: bool, coins: Decimal, cash: Decimal) -> None:
    """The fee is in the quote asset, or in what the account receives."""
    paper = accounts(fee="0.002", of_received=of_received)
    account = paper.of("key")
    order = paper.place(account, "BTC/USDT", BTC, "buy", Decimal("0.5"), limit=None, moment=START)
    assert (order.status, order.price) == ("filled", ask(START))
    assert account.free == {"USDT": Decimal(100_000) - cash * ask(START), "BTC": coins}
    sold = paper.place(account, "BTC/USDT", BTC, "sell", coins, limit=None, moment=START + 1000)
    assert sold.price == bid(START + 1000)
    assert account.free["BTC"] == 0


def test_a_limit_order_waits_for_its_price() -> None:
    """What it may cost is set aside; it fills at its own price, and a cancelled one is free again."""
    paper = accounts()
    account = paper.of("key")
    moments = range(START, START + 600_000, 1000)
    low, moment = min((ask(each), each) for each in moments if ask(each) < ask(START))
    order = paper.place(account, "BTC/USDT", BTC, "buy", Decimal(1), limit=low, moment=START)
    assert (order.status, account.held["USDT"]) == ("open", low)
    paper.settle(moment - 1000)
    assert order.status == "open"
    paper.settle(moment)
    assert (order.status, order.price, order.ended) == ("filled", low, moment)
    assert account.free == {"USDT": 100_000 - low, "BTC": 1}
    waits = paper.place(account, "BTC/USDT", BTC, "sell", Decimal(1), limit=low * 2, moment=moment)
    assert account.free["BTC"] == 0
    paper.cancel(account, waits, moment)
    assert account.free["BTC"] == 1
    with pytest.raises(Refused, match="ended"):
        paper.cancel(account, waits, moment)


def test_a_better_limit_fills_at_the_market() -> None:
    paper = accounts()
    order = paper.place(
        paper.of("key"), "BTC/USDT", BTC, "buy", Decimal("0.1"), limit=ask(START) * 2, moment=START
    )
    assert order.price == ask(START)


def test_orders_wait_while_nothing_trades() -> None:
    """One that can no longer be paid at the opening is rejected, and its money is free."""
    opening = START + 60_000
    paper = accounts(halted_until=opening)
    account = paper.of("key")
    order = paper.place(account, "BTC/USDT", BTC, "buy", Decimal("0.1"), limit=None, moment=START)
    assert order.status == "open"
    paper.settle(opening)
    assert (order.status, order.price) == ("filled", ask(opening))
    rising = next(a for a, b in pairwise(range(START, START + 3_600_000, 60_000)) if ask(b) > ask(a))
    late = accounts(halted_until=rising + 60_000)
    poor = late.of("key")
    poor.free["USDT"] = ask(rising)
    waits = late.place(poor, "BTC/USDT", BTC, "buy", Decimal(1), limit=None, moment=rising)
    late.settle(rising + 60_000)
    assert (waits.status, poor.free["USDT"]) == ("rejected", ask(rising))


@pytest.mark.parametrize(
    ("side", "quantity", "reason"), [("buy", 10, "funds"), ("sell", 1, "funds"), ("buy", 0, "quantity")]
)
def test_what_an_account_cannot_pay_is_refused(
    side: Literal["buy", "sell"], quantity: int, reason: str
) -> None:
    paper = accounts()
    with pytest.raises(Refused, match=reason):
        paper.place(paper.of("key"), "BTC/USDT", BTC, side, Decimal(quantity), limit=None, moment=START)
    assert paper.of("key").free == {"USDT": 100_000}


def test_accounts_and_open_orders_are_bounded() -> None:
    paper = accounts()
    account = paper.of("key")
    for _ in range(200):
        paper.place(account, "BTC/USDT", BTC, "buy", Decimal("0.0001"), limit=Decimal(1), moment=START)
    with pytest.raises(Refused, match="many"):
        paper.place(account, "BTC/USDT", BTC, "buy", Decimal("0.0001"), limit=Decimal(1), moment=START)
    for number in range(1000):
        paper.of(f"other {number}")
    assert paper.of("key").orders == {}


Step = tuple[Literal["buy", "sell", "cancel", "wait"], int, int]

steps = st.lists(
    st.tuples(st.sampled_from(["buy", "sell", "cancel", "wait"]), st.integers(1, 9999), st.integers(0, 120)),
    max_size=30,
)


@given(steps, st.booleans())
def test_no_balance_is_negative_and_nothing_is_made(plan: list[Step], of_received: bool) -> None:  # noqa: FBT001
    """Money leaves by purchases and fees alone, whatever is placed, filled and cancelled."""
    paper = accounts(fee="0.001", of_received=of_received)
    account, moment = paper.of("key"), START
    for kind, size, percent in plan:
        moment += 500
        paper.settle(moment)
        if kind == "cancel" and account.open_orders():
            paper.cancel(account, account.open_orders()[0], moment)
        if kind in {"buy", "sell"}:
            limit = None if percent < 40 else ask(moment) * percent / 80
            try:
                paper.place(
                    account,
                    "BTC/USDT",
                    BTC,
                    kind,
                    Decimal(size) / 10_000,
                    limit=limit,
                    moment=moment,
                )
            except Refused:
                continue
        check(account)


def check(account: Account) -> None:
    orders = account.orders.values()
    assert all(amount >= 0 for amount in (*account.free.values(), *account.held.values()))
    for asset in BTC:
        held = sum(each.held for each in orders if (each.quote if each.side == "buy" else each.base) == asset)
        assert account.held.get(asset, 0) == held
    signs = {"buy": 1, "sell": -1}
    fees = {asset: sum(each.fee for each in orders if each.fee_asset == asset) for asset in BTC}
    coins = sum(signs[each.side] * each.filled for each in orders)
    spent = sum(signs[each.side] * each.cost for each in orders)
    assert account.total("BTC") == coins - fees["BTC"]
    assert account.total("USDT") == 100_000 - spent - fees["USDT"]
