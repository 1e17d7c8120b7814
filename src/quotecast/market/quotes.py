"""Quotes and their moving fields.

Field names, types and order are the public contract. An unknown number is None; a price is always known.
Timestamps are ISO 8601 in UTC and end with Z.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType


class ExtendedHours(Struct, frozen=True, gc=False, kw_only=True, rename="camel"):
    """The last trade outside the regular session, before it (`pre`) or after it (`post`).

    The change is that from `close`, the last close of a regular session before the trade.
    """

    session: Literal["pre", "post"]
    price: float
    change: float
    change_percent: float
    close: float
    timestamp: str


class StockQuote(
    Struct, frozen=True, gc=False, kw_only=True, rename="camel", tag_field="type", tag="stock_quote"
):
    """Last state of a US stock: prices in US dollars, `volume` in shares, as digits."""

    ticker: str
    name: str
    price: float
    change: float | None = None
    change_percent: float | None = None
    open: float | None = None
    high: float | None = None
    low: float | None = None
    previous_close: float | None = None
    volume: str | None = None
    sector: str = "Other"
    industry: str = "Other"
    timestamp: str | None = None
    #: Unset while the last trade is of a regular session. Feeds have it for clients that select it only, null
    #: in place of unset.
    extended: ExtendedHours | UnsetType | None = UNSET

    @property
    def key(self) -> str:
        """The key of the quote in its feed."""
        return self.ticker


class CryptoQuote(
    Struct, frozen=True, gc=False, kw_only=True, rename="camel", tag_field="type", tag="crypto_quote"
):
    """Last state of a pair over the last 24 hours; `volume` is in units of the base asset."""

    provider: str
    exchange: str
    ticker: str
    name: str
    symbol: str
    price: float
    bid: float | None = None
    ask: float | None = None
    change: float | None = None
    change_percent: float | None = None
    open: float | None = None
    high: float | None = None
    low: float | None = None
    volume: float | None = None
    timestamp: str | None = None

    @property
    def key(self) -> str:
        """The key of the quote in its feed."""
        return self.ticker


class DovizQuote(
    Struct, frozen=True, gc=False, kw_only=True, rename="camel", tag_field="type", tag="doviz_quote"
):
    """Last state of a currency, metal or index in Türkiye; dealers buy at `buying` and sell at `selling`."""

    provider: str
    symbol: str
    name: str
    category: str
    source: str
    unit: str
    currency: str
    buying: float
    selling: float
    price: float
    change: float | None = None
    change_percent: float | None = None
    open: float | None = None
    high: float | None = None
    low: float | None = None
    previous_close: float | None = None
    timestamp: str | None = None

    @property
    def key(self) -> str:
        """The key of the quote in its feed."""
        return self.symbol


Quote = StockQuote | CryptoQuote | DovizQuote


class StockMove(Struct, frozen=True, gc=False, rename="camel"):
    """The moving fields of a stock quote."""

    ticker: str
    price: float
    change: float | None
    change_percent: float | None
    open: float | None
    high: float | None
    low: float | None
    volume: str | None
    timestamp: str | None


class CryptoMove(Struct, frozen=True, gc=False, rename="camel"):
    """The moving fields of a crypto quote."""

    ticker: str
    price: float
    bid: float | None
    ask: float | None
    change: float | None
    change_percent: float | None
    open: float | None
    high: float | None
    low: float | None
    volume: float | None
    timestamp: str | None


class DovizMove(Struct, frozen=True, gc=False, rename="camel"):
    """The moving fields of a doviz quote."""

    symbol: str
    buying: float
    selling: float
    price: float
    change: float | None
    change_percent: float | None
    open: float | None
    high: float | None
    low: float | None
    timestamp: str | None


Move = StockMove | CryptoMove | DovizMove
