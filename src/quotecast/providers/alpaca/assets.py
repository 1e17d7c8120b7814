"""Alpaca's list of US stocks."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Raw

from quotecast.errors import UpstreamError
from quotecast.market.assets import Asset
from quotecast.providers.alpaca.rest import Rest
from quotecast.providers.alpaca.rest_wire import AssetRow
from quotecast.providers.base import Admission, unlimited
from quotecast.providers.reference import Stock
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows


class AlpacaAssets:
    """The active US stocks; what the upstream does not know of a company is that of `stocks`."""

    name = "alpaca"
    every_seconds = 86_400.0

    def __init__(
        self,
        trading_url: str,
        key: str,
        secret: str,
        *,
        stocks: Sequence[Stock],
        admitted: Admission = unlimited,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rest = Rest(trading_url, key, secret, admitted, clock)
        self._known = {stock.ticker: stock for stock in stocks}
        self._refused = RefusalCounter("alpaca")

    def statistics(self) -> Mapping[str, int]:
        """How many rows were refused since the start, by reason."""
        return self._refused.by_reason()

    async def assets(self) -> Sequence[Asset]:
        """See AssetsProvider; a list without any stock is an error."""
        params = {"status": "active", "asset_class": "us_equity"}
        rows = decode_rows(
            await self._rest.get_once("/v2/assets", list[Raw], params), AssetRow, self._refused
        )
        found = self._assets(row for row in rows if row.is_listed)
        if not found:
            raise UpstreamError("Alpaca lists no stocks")
        return [found[ticker] for ticker in sorted(found)]

    def _assets(self, rows: Iterable[AssetRow]) -> dict[str, Asset]:
        found: dict[str, Asset] = {}
        for row in rows:
            if asset := row.to_asset(self._known):
                # A ticker may be there twice while it goes from one company to another.
                found[asset.ticker] = max(found.get(asset.ticker, asset), asset, key=_is_tradable)
            else:
                self._refused.count("unreadable")
        return found


def _is_tradable(asset: Asset) -> bool:
    return asset.tradable
