"""What a user holds after a series of transactions: lots, costs and realised gains, in exact fractions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final, Literal

from msgspec import Struct, field

from quotecast.errors import InvalidValue
from quotecast.market.money import PLACES, without_zeros

TransactionType = Literal["buy", "sell", "dividend", "fee", "split"]
#: Which lots a sale takes: the oldest first, or a part of each, at their average cost.
Method = Literal["fifo", "average"]

_NOTHING: Final = Fraction(0)
#: Digits that hold any amount of the ledger down to its last place.
_PRECISION: Final = 200
_LAST_PLACE: Final = Decimal(1).scaleb(-PLACES)
_COST_PARTS: Final = 10**12
#: Splits of one ticker: each makes the fractions of its shares longer.
MAX_SPLITS: Final = 100


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


class Lot(Struct):
    """Shares that were bought together, and what they cost with the fee."""

    opened: date
    shares: Fraction
    cost: Fraction


class Position(Struct):
    """What is held of a ticker, and what it has brought, in one currency.

    A sale of more shares than there are is a `problem`, and no later entry counts.
    """

    ticker: str
    currency: str
    lots: list[Lot] = field(default_factory=list)
    realized: Fraction = _NOTHING
    dividends: Fraction = _NOTHING
    fees: Fraction = _NOTHING
    problem: str | None = None

    @property
    def shares(self) -> Fraction:
        """The number of shares."""
        return sum((lot.shares for lot in self.lots), _NOTHING)

    @property
    def cost(self) -> Fraction:
        """What the shares cost."""
        return sum((lot.cost for lot in self.lots), _NOTHING)


def positions(transactions: Iterable[Transaction], method: Method = "fifo") -> list[Position]:
    """Returns the positions by ticker and currency, those without shares too.

    A split takes effect before the trades of its day.
    """
    found: dict[tuple[str, str], Position] = {}
    for entry in sorted(transactions, key=lambda each: (each.date, each.type != "split", each.id)):
        key = entry.ticker, entry.currency
        position = found.setdefault(key, Position(*key))
        if position.problem is None:
            _apply(position, entry, method)
    return [found[key] for key in sorted(found)]


def check(transactions: Iterable[Transaction]) -> None:
    """Raises InvalidValue if a sale takes more shares than there are, and for too many splits."""
    known = [*transactions]
    splits = Counter(each.ticker for each in known if each.type == "split")
    if splits and splits.most_common(1)[0][1] > MAX_SPLITS:
        raise InvalidValue("type", f"Must be one of at most {MAX_SPLITS} splits of a ticker")
    for position in positions(known):
        if position.problem:
            raise InvalidValue("shares", position.problem)


def shares_before(transactions: Iterable[Transaction], ticker: str, day: date) -> Fraction:
    """Returns how many shares of a ticker were held at the end of the day before."""
    earlier = (each for each in transactions if each.ticker == ticker and each.date < day)
    return sum((each.shares for each in positions(earlier)), _NOTHING)


class Held(Struct, frozen=True):
    """Shares that came on a day, negative for those that went, in the shares after all later splits."""

    ticker: str
    day: date
    shares: float


def held_shares(transactions: Iterable[Transaction]) -> list[Held]:
    """Returns how the number of shares changed, as split-adjusted closes need it."""
    entries = [*transactions]
    splits = [each for each in entries if each.type == "split"]
    found: list[Held] = []
    for entry in entries:
        if entry.type not in ("buy", "sell"):
            continue
        shares = _fraction(entry.shares) * (1 if entry.type == "buy" else -1)
        for split in splits:
            if split.ticker == entry.ticker and split.date > entry.date:
                shares *= _fraction(split.new_shares) / _fraction(split.old_shares)
        found.append(Held(entry.ticker, entry.date, float(shares)))
    return found


def to_decimal(number: Fraction) -> Decimal:
    """Returns the number rounded to 8 decimals, a half to the even one, without trailing zeros."""
    with localcontext(prec=_PRECISION):
        return without_zeros((Decimal(number.numerator) / number.denominator).quantize(_LAST_PLACE))


def _apply(position: Position, entry: Transaction, method: Method) -> None:
    shares, price, fee, amount = map(_fraction, (entry.shares, entry.price, entry.fee, entry.amount))
    match entry.type:
        case "buy":
            position.lots.append(Lot(entry.date, shares, shares * price + fee))
            if method == "average":
                position.lots = [_merge(position.lots)]
        case "sell" if shares > position.shares:
            position.problem = (
                f"{entry.date}: the sale of {to_decimal(shares)} {entry.ticker} takes more than the "
                f"{to_decimal(position.shares)} that are held"
            )
        case "sell":
            position.realized += shares * price - fee - _take(position, shares)
        case "dividend":
            position.dividends += amount
        case "fee":
            position.fees += amount
        case "split":
            ratio = _fraction(entry.new_shares) / _fraction(entry.old_shares)
            for lot in position.lots:
                lot.shares *= ratio


def _take(position: Position, shares: Fraction) -> Fraction:
    """Removes shares from the oldest lots, and returns what those cost."""
    cost = _NOTHING
    while shares:
        lot = position.lots[0]
        taken = min(shares, lot.shares)
        part = lot.cost if taken == lot.shares else _rounded(lot.cost * taken / lot.shares)
        cost, shares = cost + part, shares - taken
        lot.cost, lot.shares = lot.cost - part, lot.shares - taken
        if not lot.shares:
            del position.lots[0]
    return cost


def _rounded(cost: Fraction) -> Fraction:
    """Returns a part of a cost to its 12th decimal: fractions of fractions would grow without end."""
    return Fraction(round(cost * _COST_PARTS), _COST_PARTS)


def _merge(lots: Sequence[Lot]) -> Lot:
    shares, cost = (
        sum(each, _NOTHING) for each in zip(*((lot.shares, lot.cost) for lot in lots), strict=True)
    )
    return Lot(lots[0].opened, shares, cost)


def _fraction(amount: Decimal | None) -> Fraction:
    return _NOTHING if amount is None else Fraction(amount)
