"""The ledger of a portfolio, against an oracle that counts single shares."""

import random
from collections import deque
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace

from quotecast.errors import InvalidValue
from quotecast.portfolio.ledger import (
    MAX_SHARES,
    MAX_SPLITS,
    Book,
    Held,
    Method,
    Transaction,
    check,
    held_shares,
    in_order,
    positions,
    to_decimal,
    valid_entries,
)

FIRST = date(2026, 1, 1)
BATCHES = 20


def entry(kind: Any, day: int, number: int = 0, ticker: str = "S", **amounts: str) -> Transaction:
    return Transaction(
        id=f"{number:024x}",
        type=kind,
        ticker=ticker,
        date=FIRST + timedelta(days=day),
        currency="USD",
        created_at=datetime(2026, 11, 20, tzinfo=UTC),
        **{name: Decimal(text) for name, text in amounts.items()},
    )


def test_a_sale_takes_the_oldest_shares_first() -> None:
    bought = [
        entry("buy", 1, 1, shares="10", price="100", fee="1"),
        entry("buy", 2, 2, shares="10", price="200", fee="0"),
    ]
    (position,) = positions([*bought, entry("sell", 3, 3, shares="15", price="300", fee="2")])
    # 10 shares cost 1001, 5 more 1000.
    assert position.realized == 15 * 300 - 2 - 2001
    assert [(int(lot.shares), int(lot.cost)) for lot in position.lots] == [(5, 1000)]
    (average,) = positions([*bought, entry("sell", 3, 3, shares="15", price="300", fee="2")], "average")
    assert to_decimal(average.realized) == Decimal("2247.25")
    assert [(int(lot.shares), to_decimal(lot.cost)) for lot in average.lots] == [(5, Decimal("750.25"))]


def test_a_split_comes_before_the_trades_of_its_day() -> None:
    """The price of its day is after it, and so are the shares that are sold."""
    entries = [
        entry("sell", 5, 1, shares="40", price="50", fee="0"),
        entry("split", 5, 2, old_shares="1", new_shares="4"),
        entry("buy", 1, 3, shares="10", price="100", fee="0"),
    ]
    (position,) = positions(entries)
    assert (position.realized, position.shares, position.problem) == (Fraction(1000), Fraction(0), None)
    assert [each.type for each in in_order(entries)] == ["buy", "split", "sell"]


def test_dividends_and_fees_add_up_without_shares() -> None:
    entries = [
        entry("dividend", 3, 1, amount="2.5"),
        entry("fee", 4, 2, amount="0.1"),
        entry("dividend", 5, 3, amount="1"),
    ]
    (position,) = positions(entries)
    assert (position.dividends, position.fees) == (Fraction(7, 2), Fraction(1, 10))
    assert position.shares == 0


def test_a_sale_of_too_many_shares_is_refused_and_ends_the_position() -> None:
    """What comes later cannot count any more; other tickers go on."""
    entries = [
        entry("buy", 1, 1, shares="1.5", price="10", fee="0"),
        entry("sell", 2, 2, shares="2", price="20", fee="0"),
        entry("buy", 3, 3, shares="5", price="10", fee="0"),
        entry("buy", 3, 4, ticker="T", shares="5", price="10", fee="0"),
    ]
    message = "2026-01-03: the sale of 2 S takes more than the 1.5 that are held"
    with pytest.raises(InvalidValue, match=message):
        check(entries[:1], entries)
    broken, good = positions(entries)
    assert (broken.problem, broken.shares) == (message, Fraction(3, 2))
    assert good.shares == 5


def test_no_shares_are_held_of_a_sale_without_its_holding() -> None:
    """Nor do the position's later entries; those before it, of other currencies and of other tickers do."""
    bought, sold, later = (
        entry("buy", 1, 1, shares="10", price="100"),
        entry("sell", 2, 2, shares="10", price="100"),
        entry("buy", 3, 3, shares="4", price="100"),
    )
    split = entry("split", 4, 4, old_shares="1", new_shares="2")
    euros = replace(later, id="5", currency="EUR")
    assert valid_entries([sold, later]) == []
    assert held_shares(valid_entries([sold, later, euros, split])) == [Held("S", later.date, 8.0)]
    whole = [bought, sold, later, replace(later, id="6", ticker="T")]
    assert valid_entries(whole[::-1]) == whole
    fewer = replace(bought, shares=Decimal(3))
    assert valid_entries([fewer, *whole[1:]]) == [fewer, whole[3]]
    paid = entry("dividend", 5, 7, amount="1")
    assert valid_entries([fewer, sold, paid]) == [fewer]


def test_a_split_changes_the_lots_of_all_currencies() -> None:
    dollars = entry("buy", 1, 1, shares="10", price="100")
    split = entry("split", 2, 3, old_shares="1", new_shares="4")
    entries = [split, dollars, replace(dollars, id="2", currency="EUR")]
    assert [(each.currency, int(each.shares)) for each in positions(entries)] == [("EUR", 40), ("USD", 40)]
    assert held_shares(in_order(entries)) == [Held("S", dollars.date, 40.0)] * 2
    book = Book()
    for each in in_order(entries)[:2]:
        book.enter(each)
    assert [int(book.shares(each)) for each in ("S", "T")] == [20, 0]


def test_what_a_split_leaves_can_be_sold_as_it_is_shown() -> None:
    entries = [
        entry("buy", 1, 1, shares="10", price="100"),
        entry("split", 2, 2, old_shares="3", new_shares="2"),
        entry("sell", 3, 3, shares="6.66666667", price="160"),
    ]
    (position,) = positions(entries)
    assert position.problem is None
    assert position.shares == 0
    assert position.lots == []


def test_a_broken_position_is_mended_one_entry_at_a_time() -> None:
    """A holding that is gone leaves two sales without shares: each may go, and no good position may break."""
    sales = [entry("sell", day, day, shares="4", price="20") for day in (2, 3)]
    check(sales, sales[1:])
    check(sales, [entry("buy", 1, 9, shares="1", price="10"), *sales])
    good = entry("buy", 1, 8, ticker="T", shares="1", price="10")
    sold = entry("sell", 2, 7, ticker="T", shares="1", price="10")
    with pytest.raises(InvalidValue, match="the sale of 1 T takes more than the 0 that are held"):
        check([*sales, good, sold], [*sales, sold])


def test_the_shares_of_a_position_are_bounded() -> None:
    """Answers hold them as floating-point numbers of a ledger's splits, too."""
    bought = entry("buy", 1, 1, shares=f"{MAX_SHARES}", price="1")
    split = entry("split", 2, 2, old_shares="1", new_shares="10000")
    with pytest.raises(InvalidValue, match="more than 1000000000000000 S after the split"):
        check([bought], [bought, split])
    with pytest.raises(InvalidValue, match=r"more than 1000000000000000 S\Z"):
        check([bought], [bought, entry("buy", 2, 2, shares="1", price="1")])
    gone = [bought, entry("sell", 1, 2, shares=f"{MAX_SHARES}", price="1")]
    splits = [entry("split", 2 + n, 3 + n, old_shares="1", new_shares="10000") for n in range(MAX_SPLITS)]
    check(gone, [*gone, *splits])
    assert sum(each.shares for each in held_shares([*gone, *splits])) == 0


def test_a_full_ledger_of_one_stock_is_counted_once() -> None:
    """Each sale used to add up all lots: the work grew with the square of the entries."""
    bought = [entry("buy", 1, number, shares="1", price="1") for number in range(2500)]
    sold = [entry("sell", 2, 2500 + number, shares="0.00000001", price="1") for number in range(2500)]
    (position,) = positions([*bought, *sold])
    assert to_decimal(position.shares) == Decimal("2499.999975")
    assert position.shares == sum(lot.shares for lot in position.lots)


def test_splits_of_one_ticker_are_bounded() -> None:
    splits = [entry("split", day, day, old_shares="3", new_shares="2") for day in range(MAX_SPLITS)]
    check([], splits)
    with pytest.raises(InvalidValue, match="at most 40 splits"):
        check(splits, [*splits, entry("split", 300, 300, old_shares="3", new_shares="2")])


def test_many_trades_at_average_cost_stay_quick() -> None:
    """Costs are exact up to 200 digits: fractions of fractions would have a million."""
    entries = []
    for number in range(2000):
        entries.append(entry("buy", number, 2 * number, shares="7.77777777", price="3.33333333", fee="0.1"))
        entries.append(entry("sell", number, 2 * number + 1, shares="3.21", price="4", fee="0"))
    (position,) = positions(entries, "average")
    assert position.cost.denominator <= 10**224
    assert to_decimal(position.shares) == 2000 * (Decimal("7.77777777") - Decimal("3.21"))


def rounded(number: Fraction, places: int) -> Decimal:
    with localcontext(prec=100):
        quotient = Decimal(number.numerator) / number.denominator
        return quotient.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)


def history(draw: random.Random) -> list[Transaction]:
    """Returns some months of one ticker, in whole shares; it never sells more than there are."""
    held, entries = 0, []
    for number in range(draw.randint(1, 25)):
        day, kind = number * 3, draw.choice(("buy", "buy", "sell", "sell", "dividend", "fee", "split"))
        money = f"{draw.randint(0, 50_000)}.{draw.randint(0, 9999):04}"
        fee = f"{draw.randint(0, 9)}.{draw.randint(0, 99):02}"
        if kind == "buy" and held < 2000:
            count = draw.randint(1, 60)
            held += count
            entries.append(entry("buy", day, number, shares=f"{count}", price=money, fee=fee))
        elif kind == "sell" and held:
            count = draw.randint(1, held)
            held -= count
            entries.append(entry("sell", day, number, shares=f"{count}", price=money, fee=fee))
        elif kind == "split" and held < 500:
            new = draw.choice((2, 3, 4))
            held *= new
            entries.append(entry("split", day, number, old_shares="1", new_shares=f"{new}"))
        elif kind in ("dividend", "fee"):
            entries.append(entry(kind, day, number, amount=money))
    return entries


def count_shares(
    entries: list[Transaction], method: Method, rates: Mapping[date, Fraction]
) -> tuple[Decimal, Decimal, int, Decimal, Decimal]:
    """Returns realised gain, cost, shares, dividends and fees at the rates of the days.

    It has one cost for each single share.
    """
    shares: deque[Fraction] = deque()
    realized = dividends = fees = Fraction(0)
    for each in entries:
        rate = rates[each.date]
        price, fee, amount = (Fraction(value or 0) * rate for value in (each.price, each.fee, each.amount))
        count = int(each.shares or 0)
        if each.type == "buy":
            shares.extend([price + fee / count] * count)
            if method == "average":
                shares = deque([sum(shares, Fraction(0)) / len(shares)] * len(shares))
        elif each.type == "sell":
            cost = sum((shares.popleft() for _ in range(count)), Fraction(0))
            realized += price * count - fee - cost
        elif each.type == "split":
            times = int(each.new_shares or 1)
            shares = deque(cost / times for cost in shares for _ in range(times))
        dividends += amount if each.type == "dividend" else 0
        fees += amount if each.type == "fee" else 0
    total = sum(shares, Fraction(0))
    gain, left, paid, charged = (rounded(each, 8) for each in (realized, total, dividends, fees))
    return gain, left, len(shares), paid, charged


@pytest.mark.parametrize("method", ["fifo", "average"])
@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, BATCHES))]
)
def test_ten_thousand_histories_agree_to_the_last_digit(batch: int, method: Method) -> None:
    """The long tests draw all of them, other runs one in twenty."""
    begin = batch * 10_000 + (0 if method == "fifo" else 5_000)
    for number in range(begin, begin + 5_000 // BATCHES):
        draw = random.Random(number)
        entries = history(draw)
        # Every other history is in its own currency.
        rates = {each.date: f"{draw.randint(1, 99)}.{draw.randint(0, 999_999):06}" for each in entries}
        if number % 2:
            rates = dict.fromkeys(rates, "1")
        exact = {day: Fraction(rate) for day, rate in rates.items()}
        converted = [each.at_rate(Decimal(rates[each.date])) for each in draw.sample(entries, len(entries))]
        for position in positions(converted, method):
            found = (
                to_decimal(position.realized),
                to_decimal(position.cost),
                int(position.shares),
                to_decimal(position.dividends),
                to_decimal(position.fees),
            )
            assert found == count_shares(entries, method, exact)
