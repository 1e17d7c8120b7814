"""Corporate actions of stocks, and the factors by which they change prices."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from math import prod
from typing import Final, Literal

from msgspec import Struct, field

from quotecast.market.worth_history import CARRIED

ActionType = Literal["split", "stock_dividend", "cash_dividend", "rename", "merger"]
#: Actions after which a holder has more or fewer shares of the same stock.
_SHARES: Final = frozenset({"split", "stock_dividend"})
_ONE: Final = Decimal(1)


class CorporateAction(Struct, frozen=True, kw_only=True, rename="camel"):
    """A corporate action; from the open of `ex_date` on, prices are those after it.

    A holder of `old_shares` has `new_shares` afterwards: of the same stock after a split (fewer after a
    reverse one) or a stock dividend, of `new_symbol` after a rename or a merger in shares. `amount` is the
    dividend of one share in `currency`. `known_at` is when this service first read the action in this form;
    only answers of a past moment have it.
    """

    id: str
    type: ActionType
    symbol: str
    ex_day: date = field(name="exDate")
    record_day: date | None = field(default=None, name="recordDate")
    payable_day: date | None = field(default=None, name="payableDate")
    old_shares: float | None = None
    new_shares: float | None = None
    amount: float | None = None
    currency: str | None = None
    new_symbol: str | None = None
    provider: str
    known_at: str | None = None

    @property
    def ratio(self) -> Decimal:
        """Shares after the action for one before it; 1 for actions that change no number of shares."""
        if self.type not in _SHARES or not self.old_shares or not self.new_shares:
            return _ONE
        return Decimal(repr(self.new_shares)) / Decimal(repr(self.old_shares))


class Adjustment(Struct, frozen=True):
    """Factors of prices: each multiplies those before its day."""

    steps: Sequence[tuple[date, Decimal]] = ()

    def factor(self, day: date) -> Decimal:
        """Returns the factor of a price of a day: the product of all later steps."""
        return prod((factor for ex_day, factor in self.steps if ex_day > day), start=_ONE)


def without_splits(actions: Iterable[CorporateAction], today: date) -> Adjustment:
    """Returns what makes split-adjusted prices raw: the shares of today for one share of their own day."""
    return Adjustment([(each.ex_day, each.ratio) for each in actions if each.ex_day <= today])


def with_dividends(
    actions: Iterable[CorporateAction], closes: Mapping[date, float], today: date
) -> Adjustment:
    """Returns what adjusts split-adjusted prices for cash dividends, too.

    The dividends of a day take `1 - dividends / close`, with the last of the split-adjusted `closes` before
    it, as data vendors do. Those without such a close, or as large as it, are left out, and so are those in
    another currency than dollars, in which stocks trade.
    """
    known = [each for each in actions if each.ex_day <= today]
    shares = without_splits(known, today)
    paid: dict[date, Decimal] = {}
    for each in known:
        if each.type == "cash_dividend" and each.amount and each.currency in (None, "USD"):
            # The dividend is of one share of its own day.
            amount = Decimal(repr(each.amount)) / shares.factor(each.ex_day)
            paid[each.ex_day] = paid.get(each.ex_day, Decimal(0)) + amount
    days = sorted(closes)
    steps: list[tuple[date, Decimal]] = []
    for day, amount in paid.items():
        place = bisect_left(days, day) - 1
        if place < 0 or day - days[place] > CARRIED:
            continue
        left = _ONE - amount / Decimal(repr(closes[days[place]]))
        if left > 0:
            steps.append((day, left))
    return Adjustment(steps)
