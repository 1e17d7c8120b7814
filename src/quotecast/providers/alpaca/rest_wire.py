"""Alpaca's REST responses other than snapshots: bars, news, assets and clock.

Source of the format: Alpaca's OpenAPI documents of market data and trading, `/v2/stocks/bars`,
`/v1beta1/news`, `/v2/assets` and `/v2/clock`. Decoders ignore unknown fields. Each row is decoded on its own,
so that a malformed row does not discard the others.
"""

from collections.abc import Mapping, Sequence

from msgspec import Raw, Struct, field

from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.news import Article, NewsImage
from quotecast.market.numbers import instant, timestamp_of
from quotecast.market.reference import Stock


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
        # Crypto pairs arrive without a slash, such as `BTCUSD`.
        spelled = (canonical_symbol(Feed.STOCKS, symbol) for symbol in self.symbols or () if symbol)
        return Article(
            id=str(self.id),
            headline=self.headline or "",
            summary=self.summary or "",
            author=self.author or "",
            source=self.source or "",
            url=self.url,
            images=[NewsImage(each.size or "", each.url) for each in self.images or () if each and each.url],
            symbols=list(dict.fromkeys(ticker for ticker in spelled if ticker)),
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
        """Returns whether the row is an active US stock."""
        return self.kind in {None, "us_equity"} and self.status in {None, "active"}

    def to_asset(self, stocks: Mapping[str, Stock]) -> Asset | None:
        """Returns the asset; None when its symbol is not a valid ticker.

        `stocks` is the reference table by ticker. It supplies sector and industry, and takes precedence for
        the name.
        """
        ticker = canonical_symbol(Feed.STOCKS, self.symbol)
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
