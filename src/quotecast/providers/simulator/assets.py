"""The simulated exchange's list of stocks."""

from quotecast.market.assets import Asset
from quotecast.providers.reference import Stock, stocks
from quotecast.providers.simulator.quoters import NAME


class SimulatorAssets:
    """The stocks that the simulator quotes."""

    name = NAME
    every_seconds = 3600.0

    async def assets(self) -> list[Asset]:
        """Returns all stocks, sorted by ticker."""
        return [_asset(stock) for stock in stocks()]


def _asset(stock: Stock) -> Asset:
    return Asset(
        ticker=stock.ticker,
        name=stock.name,
        exchange=stock.exchange,
        sector=stock.sector,
        industry=stock.industry,
    )
