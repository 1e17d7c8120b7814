"""The stocks there are."""

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
