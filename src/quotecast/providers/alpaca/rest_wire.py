"""Alpaca's REST answers other than snapshots, and what becomes of them: bars, news, assets, trading days.

Source of the format: Alpaca's OpenAPI documents of market data and trading, `/v2/stocks/bars`,
`/v1beta1/news`, `/v2/assets`, `/v2/clock` and `/v2/calendar`. Unknown fields are ignored everywhere; rows are
read one by one, so that a bad one costs itself alone.
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
from quotecast.providers.validation.values import instant, timestamp_of

T = TypeVar("T")


class BarPage(Struct, frozen=True):
    """A page of `GET /v2/stocks/bars`: rows by symbol, oldest first."""

    bars: Mapping[str, Sequence[Raw] | None] | None = None
    next_page_token: str | None = None

    def rows_of(self, symbol: str) -> Sequence[Raw]:
        """Those of one symbol; none where the upstream says null."""
        return (self.bars or {}).get(symbol) or ()


class NewsPage(Struct, frozen=True):
    """A page of `GET /v1beta1/news`, the newest first."""

    news: Sequence[Raw] | None = None
    next_page_token: str | None = None


class Image(Struct, frozen=True):
    """A picture of a story; `size` is thumb, small or large."""

    size: str | None = None
    url: str | None = None


class Story(Struct, frozen=True):
    """One article; texts may hold HTML, and any of them may be missing."""

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
        """The article, received at that Unix time; None without a headline or any time."""
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
            created_at=timestamp_of(created, received),
            updated_at=timestamp_of(instant(self.updated_at) or created, received),
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
        """Whether it is an active US stock, which is what was asked for."""
        return self.kind in {None, "us_equity"} and self.status in {None, "active"}

    def to_asset(self, known: Mapping[str, Stock]) -> Asset | None:
        """The asset, with what is `known` of the company; None when its symbol is no ticker."""
        ticker = canonical(Feed.STOCKS, self.symbol)
        if ticker is None:
            return None
        stock = known.get(ticker)
        return Asset(
            ticker=ticker,
            name=(stock and stock.name) or (self.name or "").strip() or ticker,
            exchange=(self.exchange or "").strip() or (stock.exchange if stock else ""),
            sector=(stock and stock.sector) or "Other",
            industry=(stock and stock.industry) or "Other",
            tradable=bool(self.tradable),
        )


class Clock(Struct, frozen=True):
    """The answer of `GET /v2/clock`."""

    is_open: bool
    next_open: str | None = None
    next_close: str | None = None


class CalendarRow(Struct, frozen=True):
    """A row of `GET /v2/calendar`: times of New York, such as `09:30` or `0930`."""

    date: str
    open: str
    close: str
    session_open: str | None = None
    session_close: str | None = None

    def to_day(self) -> TradingDay | None:
        """The trading day; None when it cannot be read, or its times do not ascend."""
        try:
            day = date.fromisoformat(self.date)
            opened, closed = _moment(day, self.open), _moment(day, self.close)
            first = _moment(day, self.session_open) if self.session_open else opened
            last = _moment(day, self.session_close) if self.session_close else closed
        except (ValueError, OverflowError):
            return None
        return TradingDay(day, first, opened, closed, last) if first <= opened < closed <= last else None


def _tickers(symbols: Iterable[str | None]) -> list[str]:
    """Those that are tickers, once each; pairs of crypto come without their stroke."""
    spelled = (canonical(Feed.STOCKS, symbol) for symbol in symbols if symbol)
    return list(dict.fromkeys(ticker for ticker in spelled if ticker))


def _moment(day: date, hour: str) -> datetime:
    return datetime.combine(day, time.fromisoformat(hour), NEW_YORK).astimezone(UTC)
