"""Alpaca's REST responses other than snapshots: bars, news, assets, clock and calendar.

Source of the format: Alpaca's OpenAPI documents of market data and trading, `/v2/stocks/bars`,
`/v1beta1/news`, `/v2/assets`, `/v2/clock` and `/v2/calendar`. Decoders ignore unknown fields. Each row is
decoded on its own, so that a malformed row does not discard the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import TypeVar

from msgspec import Raw, Struct, field

from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.market.news import Article, NewsImage
from quotecast.market.sessions import NEW_YORK, TradingDay
from quotecast.providers.reference import Stock
from quotecast.providers.validation.values import instant, stamped

T = TypeVar("T")


class BarPage(Struct, frozen=True):
    """A page of `GET /v2/stocks/bars`: rows by symbol, oldest first."""

    bars: Mapping[str, Sequence[Raw] | None] | None = None
    next_page_token: str | None = None

    def rows_of(self, symbol: str) -> Sequence[Raw]:
        """Returns the rows of one symbol; an empty sequence where Alpaca sends null."""
        return (self.bars or {}).get(symbol) or ()


class NewsPage(Struct, frozen=True):
    """A page of `GET /v1beta1/news`, newest first."""

    news: Sequence[Raw] | None = None
    next_page_token: str | None = None


class Image(Struct, frozen=True):
    """An image of a story; `size` is thumb, small or large."""

    size: str | None = None
    url: str | None = None


class Story(Struct, frozen=True):
    """A news article as Alpaca sends it; texts may contain HTML, and every field but `id` may be missing."""

    id: int | str
    headline: str | None = None
    summary: str | None = None
    author: str | None = None
    source: str | None = None
    url: str | None = None
    images: Sequence[Image | None] | None = None
    symbols: Sequence[str | None] | None = None
    created_at: str | None = None
    updated_at: str | None = None

    def to_article(self, received: float) -> Article | None:
        """Returns the article; None without a headline or a readable time.

        `received` is a Unix time. It replaces a time that lies in the future.
        """
        created = instant(self.created_at) or instant(self.updated_at)
        if created is None or not (self.headline or "").strip():
            return None
        return Article(
            id=str(self.id),
            headline=self.headline or "",
            summary=self.summary or "",
            author=self.author or "",
            source=self.source or "",
            url=self.url,
            images=[NewsImage(each.size or "", each.url) for each in self.images or () if each and each.url],
            symbols=_tickers(self.symbols or ()),
            created_at=stamped(created, received),
            updated_at=stamped(instant(self.updated_at) or created, received),
        )


class AssetRow(Struct, frozen=True):
    """A row of `GET /v2/assets`."""

    symbol: str
    name: str | None = None
    exchange: str | None = None
    kind: str | None = field(default=None, name="class")
    status: str | None = None
    tradable: bool | None = None

    @property
    def is_listed(self) -> bool:
        """Returns whether the row is an active US stock."""
        return self.kind in {None, "us_equity"} and self.status in {None, "active"}

    def to_asset(self, stocks: Mapping[str, Stock]) -> Asset | None:
        """Returns the asset; None when its symbol is not a valid ticker.

        `stocks` is the reference table by ticker. It supplies sector and industry, and takes precedence for
        the name.
        """
        ticker = canonical(Feed.STOCKS, self.symbol)
        if ticker is None:
            return None
        stock = stocks.get(ticker)
        return Asset(
            ticker=ticker,
            name=(stock and stock.name) or (self.name or "").strip() or ticker,
            exchange=(self.exchange or "").strip() or (stock.exchange if stock else ""),
            sector=(stock and stock.sector) or "Other",
            industry=(stock and stock.industry) or "Other",
            tradable=bool(self.tradable),
        )


class MarketClock(Struct, frozen=True):
    """The response of `GET /v2/clock`: whether the exchange is open, its next open and its next close."""

    is_open: bool
    next_open: str | None = None
    next_close: str | None = None


class CalendarRow(Struct, frozen=True):
    """A trading day from `GET /v2/calendar`; times are New York time, as `09:30` or `0930`."""

    date: str
    open: str
    close: str
    session_open: str | None = None
    session_close: str | None = None

    def to_day(self) -> TradingDay | None:
        """Returns the trading day; None when a field is unreadable or the times do not ascend."""
        try:
            day = date.fromisoformat(self.date)
            opening, closing = _moment(day, self.open), _moment(day, self.close)
            first = _moment(day, self.session_open) if self.session_open else opening
            last = _moment(day, self.session_close) if self.session_close else closing
        except (ValueError, OverflowError):
            return None
        return TradingDay(day, first, opening, closing, last) if first <= opening < closing <= last else None


def _tickers(symbols: Iterable[str | None]) -> list[str]:
    """Returns the valid tickers among the symbols, without duplicates.

    Crypto pairs arrive without a slash, such as `BTCUSD`.
    """
    spelled = (canonical(Feed.STOCKS, symbol) for symbol in symbols if symbol)
    return list(dict.fromkeys(ticker for ticker in spelled if ticker))


def _moment(day: date, hour: str) -> datetime:
    return datetime.combine(day, time.fromisoformat(hour), NEW_YORK).astimezone(UTC)
