"""Stocks and the search for them."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from quotecast.market.folding import fold


class Asset(Struct, frozen=True, kw_only=True, rename="camel"):
    """A listed stock; an unknown sector or industry is `Other`."""

    ticker: str
    name: str
    exchange: str
    asset_class: str = "us_equity"
    sector: str = "Other"
    industry: str = "Other"
    tradable: bool = True


class IndexedAsset(Struct, frozen=True):
    """An asset, with its ticker and name folded for comparison."""

    ticker: str
    name: str
    asset: Asset


def index_assets(assets: Iterable[Asset]) -> list[IndexedAsset]:
    """Returns the index that `search_assets` searches; build it once for many searches."""
    return [IndexedAsset(fold(asset.ticker), fold(asset.name), asset) for asset in assets]


def search_assets(assets: Sequence[IndexedAsset], text: str) -> list[Asset]:
    """Returns assets whose ticker begins with the text, then those whose name contains it, in index order.

    The search ignores letter case, accents and blanks around the text.
    """
    wanted = fold(text.strip())
    by_ticker = [each.asset for each in assets if each.ticker.startswith(wanted)]
    by_name = [each.asset for each in assets if wanted in each.name and not each.ticker.startswith(wanted)]
    return by_ticker + by_name
