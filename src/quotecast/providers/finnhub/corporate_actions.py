"""Corporate actions from Finnhub: splits and cash dividends.

Source of the format: Finnhub's OpenAPI document, `/stock/split` and `/stock/dividend`; paid plans have them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.errors import NotOffered
from quotecast.market.actions import CorporateAction
from quotecast.market.numbers import Number, positive, to_float
from quotecast.providers.finnhub import answers
from quotecast.providers.finnhub.rest import FinnhubRest
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import readable

NAME: Final = "finnhub"
#: The rows have a field `date`, which hides the type.
Day = date


class SplitRow(Struct, frozen=True, rename="camel"):
    """A row of `/stock/split`: `to_factor` shares for `from_factor` old ones."""

    date: Day
    from_factor: Number = None
    to_factor: Number = None

    def to_action(self, symbol: str) -> CorporateAction | None:
        """Returns the split; None without both numbers of shares."""
        old, new = (to_float(positive(each)) for each in (self.from_factor, self.to_factor))
        if old is None or new is None:
            return None
        return CorporateAction(
            id=f"split {symbol} {self.date}",
            type="split",
            symbol=symbol,
            ex_day=self.date,
            old_shares=old,
            new_shares=new,
            provider=NAME,
        )


def _day(text: str | None) -> date | None:
    """Returns the day of a text; None for an empty one."""
    try:
        return date.fromisoformat(text or "")
    except ValueError:
        return None


class DividendRow(Struct, frozen=True, rename="camel"):
    """A row of `/stock/dividend`: `date` is the ex-day."""

    date: Day
    amount: Number = None
    currency: str | None = None
    #: Texts, because some rows have empty ones.
    record_date: str | None = None
    pay_date: str | None = None

    def to_action(self, symbol: str) -> CorporateAction | None:
        """Returns the dividend; None without an amount."""
        amount = to_float(positive(self.amount))
        if amount is None:
            return None
        return CorporateAction(
            id=f"dividend {symbol} {self.date}",
            type="cash_dividend",
            symbol=symbol,
            ex_day=self.date,
            record_day=_day(self.record_date),
            payable_day=_day(self.pay_date),
            amount=amount,
            currency=self.currency or "USD",
            provider=NAME,
        )


_PATHS: Final[Mapping[str, type[SplitRow | DividendRow]]] = {
    "/stock/split": SplitRow,
    "/stock/dividend": DividendRow,
}


class FinnhubActions:
    """Splits and cash dividends, each as far as the plan has them. See FinnhubFinancials."""

    name = NAME

    def __init__(self, rest: FinnhubRest) -> None:
        self._rest = rest
        self._refused = RefusalCounter(NAME)

    async def actions(self, symbol: str, first: date, last: date) -> Sequence[CorporateAction]:
        """See ActionsProvider."""
        span = {"symbol": symbol, "from": first.isoformat(), "to": last.isoformat()}
        found: list[CorporateAction] = []
        refusals: list[NotOffered] = []
        for path, kind in _PATHS.items():
            try:
                answer = answers.decode(await self._rest.get(path, span))
            except NotOffered as error:
                refusals.append(error)
            else:
                rows = answers.rows(answer, kind, self._refused)
                found += readable((row.to_action(symbol) for row in rows), self._refused)
        if len(refusals) == len(_PATHS):
            raise refusals[0]
        return _numbered(sorted(found, key=lambda each: (each.ex_day, each.id, each.amount or 0)))


def _numbered(actions: Sequence[CorporateAction]) -> list[CorporateAction]:
    """Returns the actions with ids of their own: a company may pay two dividends on one day."""
    seen: Counter[str] = Counter()
    found: list[CorporateAction] = []
    for each in actions:
        seen[each.id] += 1
        found.append(replace(each, id=f"{each.id} {seen[each.id]}") if seen[each.id] > 1 else each)
    return found
