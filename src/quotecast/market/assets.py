"""The stocks there are, and how they are found."""

import unicodedata
from collections.abc import Iterable, Sequence

from msgspec import Struct


class Asset(Struct, frozen=True, kw_only=True, rename="camel"):
    """A stock that can be traded; an unknown sector or industry is `Other`."""

    ticker: str
    name: str
    exchange: str
    asset_class: str = "us_equity"
    sector: str = "Other"
    industry: str = "Other"
    tradable: bool = True


class IndexedAsset(Struct, frozen=True):
    """An asset with its ticker and name as they are compared."""

    ticker: str
    name: str
    asset: Asset


def index_assets(assets: Iterable[Asset]) -> list[IndexedAsset]:
    """What `matching` searches; made once for many searches."""
    return [IndexedAsset(_fold(asset.ticker), _fold(asset.name), asset) for asset in assets]


def search_assets(assets: Sequence[IndexedAsset], text: str) -> list[Asset]:
    """Assets whose ticker begins with the text, then those whose name holds it; else in their order.

    Letter case, accents and blanks around the text make no difference.
    """
    wanted = _fold(text.strip())
    by_ticker = [each.asset for each in assets if each.ticker.startswith(wanted)]
    by_name = [each.asset for each in assets if wanted in each.name and not each.ticker.startswith(wanted)]
    return by_ticker + by_name


def _fold(text: str) -> str:
    # A dotless i loses what tells it from another one when it is written in upper case.
    parts = unicodedata.normalize("NFKD", text).casefold().replace("ı", "i")
    return "".join(part for part in parts if not unicodedata.combining(part))
