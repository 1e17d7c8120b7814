"""Alpaca's list of US stocks."""

from collections.abc import Sequence
from operator import attrgetter

from msgspec import Raw

from quotecast.errors import UpstreamError
from quotecast.market.assets import Asset
from quotecast.market.reference import Stock
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.rest_wire import AssetRow
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows, readable


class AlpacaAssets:
    """Active US stocks; `stocks` is the reference table with the sectors and industries that Alpaca lacks."""

    name = "alpaca"
    every_seconds = 86_400.0

    def __init__(self, rest: AlpacaRest, stocks: Sequence[Stock]) -> None:
        self._rest = rest
        self._stocks = {stock.ticker: stock for stock in stocks}
        self._refused = RefusalCounter("alpaca")

    async def assets(self) -> Sequence[Asset]:
        """See AssetsProvider; raises UpstreamError for an empty list."""
        params = {"status": "active", "asset_class": "us_equity"}
        answer = await self._rest.get_once("/v2/assets", list[Raw], params)
        rows = decode_rows(answer, AssetRow, self._refused)
        by_ticker: dict[str, Asset] = {}
        for asset in readable((row.to_asset(self._stocks) for row in rows if row.is_listed), self._refused):
            # A ticker appears twice while it passes from one company to another.
            known = by_ticker.get(asset.ticker, asset)
            by_ticker[asset.ticker] = max(known, asset, key=attrgetter("tradable"))
        if not by_ticker:
            raise UpstreamError("Alpaca lists no stocks")
        return [by_ticker[ticker] for ticker in sorted(by_ticker)]
