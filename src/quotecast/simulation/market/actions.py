"""The corporate actions of the simulated market: splits of its scenarios, and invented dividends."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.market.actions import CorporateAction
from quotecast.market.sessions import trading_days_from
from quotecast.simulation.market.companies import Company, companies_of
from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.market.quoters import NAME
from quotecast.simulation.market.reports import (
    FIRST_DAY,
    LAST_DAY,
    is_out,
    ordinals_between,
    report,
    report_day_of,
    sum_reports,
)
from quotecast.simulation.market.scenarios.schedule import Schedule

#: Days from a report, which declares the dividend, to the ex-day; and from that to the payment.
_EX_AFTER: Final = timedelta(days=10)
_PAID_AFTER: Final = timedelta(days=21)


class Dividend(Struct, frozen=True):
    """A dividend of one share, in US dollars; holders on `ex_day` and later do not get it."""

    ex_day: date
    payable_day: date
    amount: float


def dividends(company: Company, first: date, last: date, moment: datetime) -> Iterator[Dividend]:
    """Yields the dividends with ex-days from `first` to `last` that are declared at an aware moment."""
    if not company.payout:
        return
    for ordinal in ordinals_between(company, first, last):
        ex_day = next(trading_days_from(report_day_of(company, ordinal) + _EX_AFTER)).date
        if not first <= ex_day <= last or not is_out(company, ordinal, moment):
            continue
        year = sum_reports(report(company, ordinal - number) for number in range(4))
        amount = round(company.payout * max(0.0, year.eps) / 4, 2)
        if amount > 0:
            yield Dividend(ex_day, next(trading_days_from(ex_day + _PAID_AFTER)).date, amount)


class SimulatorActions:
    """See ActionsProvider; a pure function of seed and time."""

    name = NAME

    def __init__(
        self, seed: int, schedule: Schedule | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._schedule = schedule or Schedule()
        self._companies = companies_of(seed)

    async def actions(self, symbol: str, first: date, last: date) -> Sequence[CorporateAction]:
        """See ActionsProvider."""
        self._schedule.admit(int(self._clock() * 1000))
        # In a thread: decades of reports take too long for the event loop.
        return await asyncio.to_thread(self._actions, symbol, max(first, FIRST_DAY), min(last, LAST_DAY))

    def _actions(self, symbol: str, first: date, last: date) -> list[CorporateAction]:
        found: list[CorporateAction] = []
        for each in self._schedule.splits(symbol):
            day = new_york_date(each.moment)
            if first <= day <= last:
                old, new = old_and_new(each.ratio)
                split = CorporateAction(
                    id=f"split {symbol} {day}",
                    type="stock_dividend" if each.is_stock_dividend else "split",
                    symbol=symbol,
                    ex_day=day,
                    old_shares=old,
                    new_shares=new,
                    provider=NAME,
                )
                found.append(split)
        company = self._companies.get(symbol)
        now = datetime.fromtimestamp(self._clock(), UTC)
        found += [
            CorporateAction(
                id=f"dividend {symbol} {paid.ex_day}",
                type="cash_dividend",
                symbol=symbol,
                ex_day=paid.ex_day,
                payable_day=paid.payable_day,
                amount=paid.amount,
                currency="USD",
                provider=NAME,
            )
            for paid in (dividends(company, first, last, now) if company else ())
        ]
        return sorted(found, key=lambda each: (each.ex_day, each.id))


def old_and_new(ratio: float) -> tuple[float, float]:
    """Returns a split's numbers of shares before and after it; the smaller one is 1."""
    return (1.0, ratio) if ratio >= 1 else (round(1 / ratio, 6), 1.0)
