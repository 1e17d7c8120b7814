"""The simulated exchange's list of stocks."""

import time
from collections.abc import Callable

import msgspec

from quotecast.market.assets import Asset
from quotecast.simulation.market.invented import TABLE_STOCKS, listed_stocks
from quotecast.simulation.market.quoters import NAME
from quotecast.simulation.market.scenarios.schedule import Schedule


class SimulatorAssets:
    """The stocks that the simulator quotes; `clock` returns Unix time of the market."""

    name = NAME
    every_seconds = 15.0

    def __init__(
        self,
        schedule: Schedule | None = None,
        clock: Callable[[], float] = time.time,
        *,
        stocks: int = TABLE_STOCKS,
    ) -> None:
        self._stocks = listed_stocks(stocks)
        self._schedule = schedule or Schedule()
        self._clock = clock

    async def assets(self) -> list[Asset]:
        """Returns all listed stocks, sorted by ticker."""
        now = int(self._clock() * 1000)
        self._schedule.admit(now)
        listed = [stock for stock in self._stocks if self._schedule.is_listed(stock.ticker, now)]
        return msgspec.convert(listed, list[Asset], from_attributes=True)
