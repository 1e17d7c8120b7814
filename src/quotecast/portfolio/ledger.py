"""A user's holdings after a series of transactions: lots, costs and realised gains, in exact fractions."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from quotecast.errors import InvalidValue
from quotecast.market.money import PLACES, without_zeros

TransactionType = Literal["buy", "sell", "dividend", "fee", "split"]
#: Which lots a sale takes: the oldest first, or a part of each, at their average cost.
Method = Literal["fifo", "average"]

_NOTHING: Final = Fraction(0)
#: Digits that hold any amount of the ledger down to its last place.
_PRECISION: Final = 200
_LAST_PLACE: Final = Decimal(1).scaleb(-PLACES)
_SHARE_PARTS: Final = 10**PLACES
_COST_PARTS: Final = 10**24
#: The largest denominator of an exact cost: after many sales at average cost it would have a million digits.
_MOST_PARTS: Final = 10**200
#: Splits of one ticker: each changes every lot.
MAX_SPLITS: Final = 40
#: Shares after a split for one before it, and the other way round.
MAX_RATIO: Final = 10_000
#: Shares of one position.
MAX_SHARES: Final = 10**15


class Transaction(Struct, frozen=True, kw_only=True):
    """An entry of the ledger; amounts are in `currency`.

    Buys and sales have `shares`, a `price` of each and a `fee`. Dividends and fees have an `amount`. After a
    split `old_shares` are `new_shares`.
    """

    id: str
    type: TransactionType
    ticker: str
    date: date
    currency: str
    shares: Decimal | None = None
    price: Decimal | None = None
    fee: Decimal | None = None
    amount: Decimal | None = None
    old_shares: Decimal | None = None
    new_shares: Decimal | None = None
    created_at: datetime

    def at_rate(self, rate: Decimal) -> "Transaction":
        """Returns the transaction with its amounts in another currency."""
        with localcontext(prec=_PRECISION):
            price, fee, amount = (
                None if each is None else each * rate for each in (self.price, self.fee, self.amount)
            )
        return replace(self, price=price, fee=fee, amount=amount)


class Lot(Struct):
    """Shares that were bought together, and what they cost with the fee."""

    opened: date
    shares: Fraction
    cost: Fraction


class Position(Struct):
    """The shares of a ticker in one currency, and their gains.

    A sale of more shares than there are is a `problem`, and no later entry counts.
    """

    ticker: str
    currency: str
    lots: list[Lot] = field(default_factory=list)
    shares: Fraction = _NOTHING
    realized: Fraction = _NOTHING
    dividends: Fraction = _NOTHING
    fees: Fraction = _NOTHING
    problem: str | None = None

    @property
    def cost(self) -> Fraction:
        """Returns the cost of the shares."""
        return sum((lot.cost for lot in self.lots), _NOTHING)


class Book:
    """The positions after a series of transactions, which are entered in the order of `in_order`."""

    def __init__(self, method: Method = "fifo") -> None:
        """The method says which lots a sale takes."""
        self._method: Method = method
        self._tickers: dict[str, dict[str, Position]] = {}

    def enter(self, entry: Transaction) -> bool:
        """Applies a transaction: a split to all positions of its ticker, others to that of their currency.

        Returns whether it counts: a split always, others unless their position has a problem.
        """
        of_ticker = self._tickers.setdefault(entry.ticker, {})
        if entry.type == "split":
            changed = [*of_ticker.values()]
        else:
            changed = [of_ticker.setdefault(entry.currency, Position(entry.ticker, entry.currency))]
        for position in changed:
            if position.problem is None:
                _apply(position, entry, self._method)
        return entry.type == "split" or changed[0].problem is None

    def shares(self, ticker: str) -> Fraction:
        """Returns the shares of a ticker in all currencies."""
        return sum((each.shares for each in self._tickers.get(ticker, {}).values()), _NOTHING)

    def positions(self) -> list[Position]:
        """Returns the positions by ticker and currency, those without shares too."""
        found = (each for of_ticker in self._tickers.values() for each in of_ticker.values())
        return sorted(found, key=lambda each: (each.ticker, each.currency))


def in_order(transactions: Iterable[Transaction]) -> list[Transaction]:
    """Returns the transactions by day; a split takes effect before the trades of its day."""
    return sorted(transactions, key=lambda each: (each.date, each.type != "split", each.id))


def positions(transactions: Iterable[Transaction], method: Method = "fifo") -> list[Position]:
    """Returns the positions by ticker and currency, those without shares too."""
    book = Book(method)
    for entry in in_order(transactions):
        book.enter(entry)
    return book.positions()


def check(before: Iterable[Transaction], after: Iterable[Transaction]) -> None:
    """Raises InvalidValue if a change makes a sale take more shares than there are, and for too many splits.

    A position that had a problem before may keep one: its entries are mended one by one.
    """
    changed = [*after]
    splits = Counter(each.ticker for each in changed if each.type == "split")
    if splits and splits.most_common(1)[0][1] > MAX_SPLITS:
        raise InvalidValue("type", f"Must be one of at most {MAX_SPLITS} splits of a ticker")
    broken = {(each.ticker, each.currency): each.problem for each in positions(changed) if each.problem}
    if broken:
        known = {(each.ticker, each.currency) for each in positions(before) if each.problem}
        for key, problem in broken.items():
            if key not in known:
                raise InvalidValue("shares", problem)


class Held(Struct, frozen=True):
    """Shares that came on a day, negative for those that went, in the shares after all later splits."""

    ticker: str
    day: date
    shares: float


def valid_entries(transactions: Iterable[Transaction]) -> list[Transaction]:
    """Returns the entries that count, in order: of a position with a problem, those before it."""
    book = Book()
    return [entry for entry in in_order(transactions) if book.enter(entry)]


def held_shares(entries: Sequence[Transaction]) -> list[Held]:
    """Returns how the number of shares changed by `valid_entries`, as split-adjusted closes need it."""
    #: By ticker: the days of the splits, and what one share of before each becomes after the last.
    days: dict[str, list[date]] = {}
    ratios: dict[str, list[Fraction]] = {}
    for entry in reversed(entries):
        if entry.type == "split":
            later = ratios.setdefault(entry.ticker, [Fraction(1)])
            later.insert(0, later[0] * _ratio(entry))
            days.setdefault(entry.ticker, []).insert(0, entry.date)
    found: list[Held] = []
    for entry in entries:
        if entry.type not in ("buy", "sell"):
            continue
        shares = _fraction(entry.shares) * (1 if entry.type == "buy" else -1)
        if entry.ticker in days:
            shares *= ratios[entry.ticker][bisect_right(days[entry.ticker], entry.date)]
        found.append(Held(entry.ticker, entry.date, float(shares)))
    return found


def to_decimal(number: Fraction) -> Decimal:
    """Returns the number rounded to 8 decimals, a half to the even one, without trailing zeros."""
    with localcontext(prec=_PRECISION):
        return without_zeros((Decimal(number.numerator) / number.denominator).quantize(_LAST_PLACE))


def _apply(position: Position, entry: Transaction, method: Method) -> None:
    shares, price, fee, amount = map(_fraction, (entry.shares, entry.price, entry.fee, entry.amount))
    match entry.type:
        case "buy" if position.shares + shares > MAX_SHARES:
            position.problem = f"{entry.date}: there are more than {MAX_SHARES} {entry.ticker}"
        case "buy":
            position.lots.append(Lot(entry.date, shares, shares * price + fee))
            position.shares += shares
            if method == "average":
                position.lots = [Lot(position.lots[0].opened, position.shares, position.cost)]
        case "sell" if shares > position.shares:
            position.problem = (
                f"{entry.date}: the sale of {to_decimal(shares):f} {entry.ticker} takes more than the "
                f"{to_decimal(position.shares):f} that are held"
            )
        case "sell":
            position.realized += shares * price - fee - _take(position, shares)
            position.shares -= shares
        case "dividend":
            position.dividends += amount
        case "fee":
            position.fees += amount
        case "split":
            _split(position, entry)


def _split(position: Position, entry: Transaction) -> None:
    """Changes the shares of each lot, rounded to 8 decimals: what an answer shows can be sold."""
    ratio = _ratio(entry)
    if position.shares * ratio > MAX_SHARES:
        position.problem = f"{entry.date}: there are more than {MAX_SHARES} {entry.ticker} after the split"
        return
    for lot in position.lots:
        lot.shares = _rounded(lot.shares * ratio, _SHARE_PARTS)
    position.shares = sum((lot.shares for lot in position.lots), _NOTHING)


def _ratio(split: Transaction) -> Fraction:
    return _fraction(split.new_shares) / _fraction(split.old_shares)


def _take(position: Position, shares: Fraction) -> Fraction:
    """Removes shares from the oldest lots, and returns what those cost."""
    cost = _NOTHING
    while shares:
        lot = position.lots[0]
        taken = min(shares, lot.shares)
        part = lot.cost if taken == lot.shares else _bounded(lot.cost * taken / lot.shares)
        cost, shares = cost + part, shares - taken
        lot.cost, lot.shares = lot.cost - part, lot.shares - taken
        if not lot.shares:
            del position.lots[0]
    return cost


def _bounded(cost: Fraction) -> Fraction:
    return cost if cost.denominator <= _MOST_PARTS else _rounded(cost, _COST_PARTS)


def _rounded(number: Fraction, parts: int) -> Fraction:
    """Returns the number in whole parts of one."""
    return Fraction(round(number * parts), parts)


def _fraction(amount: Decimal | None) -> Fraction:
    return _NOTHING if amount is None else Fraction(amount)
