"""The corporate actions of the simulated market: splits of its scenarios, and invented dividends."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

from quotecast.market.actions import CorporateAction
from quotecast.simulation.market.companies import companies_of
from quotecast.simulation.market.dividends import dividends
from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.market.quoters import NAME
from quotecast.simulation.market.reports import FIRST_DAY, LAST_DAY
from quotecast.simulation.market.scenarios.schedule import Schedule


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
