"""Examples in the documents: quotes and other answers."""

from typing import Final

from quotecast.market.assets import Asset
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.heatmap import heatmap_of
from quotecast.market.listings import SearchResult
from quotecast.market.movers import Floors, movers_of
from quotecast.market.news import Article, NewsImage
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote, StockQuote

STOCK: Final = StockQuote(
    ticker="AAPL",
    name="Apple Inc.",
    price=189.84,
    change=1.22,
    change_percent=0.65,
    open=188.9,
    high=190.32,
    low=188.19,
    previous_close=188.62,
    volume="48425696",
    sector="Technology",
    industry="Consumer Electronics",
    timestamp="2026-11-20T15:30:00.000Z",
)
CRYPTO: Final = CryptoQuote(
    provider="simulator",
    exchange="Simulated Exchange",
    ticker="BTC/USDT",
    name="Bitcoin",
    symbol="BTC",
    price=67120.5,
    bid=67120.4,
    ask=67120.6,
    change=812.3,
    change_percent=1.23,
    open=66308.2,
    high=67480.0,
    low=65990.1,
    volume=18234.51,
    timestamp="2026-11-20T15:30:00.000Z",
)
DOVIZ: Final = DovizQuote(
    provider="simulator",
    symbol="gram-altin",
    name="Gram Altın",
    category="gold",
    source="Serbest Piyasa",
    unit="gram",
    currency="TRY",
    buying=5710.2,
    selling=5711.4,
    price=5711.4,
    change=31.2,
    change_percent=0.55,
    open=5680.2,
    high=5722.0,
    low=5671.9,
    previous_close=5680.2,
    timestamp="2026-11-20T15:30:00.000Z",
)
QUOTES: Final[dict[Feed, Quote]] = {Feed.STOCKS: STOCK, Feed.CRYPTO: CRYPTO, Feed.DOVIZ: DOVIZ}
HEATMAP: Final = heatmap_of([STOCK], {STOCK.ticker: 14_840_000_000})
MOVERS: Final = movers_of([STOCK], Floors())
BARS: Final = [
    Bar("2026-11-20T15:20:00Z", 189.1, 189.66, 189.02, 189.58, 812_344),
    Bar("2026-11-20T15:25:00Z", 189.58, 189.9, 189.41, 189.84, 640_127),
]
DOVIZ_BARS: Final = [
    {
        "time": "2026-11-20T15:00:00Z",
        "open": 5702.1,
        "high": 5713.0,
        "low": 5700.4,
        "close": 5711.4,
        "volume": None,
    },
]
SPARKLINE: Final = {
    "start": "2026-11-20T14:30:00Z",
    "end": "2026-11-20T15:30:00Z",
    "closes": [188.9, 189.1, 189.58, 189.84],
}
ARTICLE: Final = Article(
    id="7462286",
    headline="Imaginary survey ranks Apple Inc. first for chip demand",
    summary="Nobody was asked and nobody answered: the survey is invented.",
    author="Ada Example",
    source="Simulator Newswire",
    url="https://example.com/news/7462286",
    images=[NewsImage("thumb", "https://example.com/images/7462286-thumb.png")],
    symbols=["AAPL"],
    created_at="2026-11-20T15:26:40.000Z",
    updated_at="2026-11-20T15:26:40.000Z",
)
ASSET: Final = Asset(
    ticker="AAPL",
    name="Apple Inc.",
    exchange="NASDAQ",
    sector="Information Technology",
    industry="Technology Hardware, Storage & Peripherals",
)

SEARCH_RESULTS: Final = [
    SearchResult("doviz", "gram-altin", "Gram Altın", "TRY", source="Serbest Piyasa"),
    SearchResult("crypto", "BTC/USDT", "Bitcoin", "USDT", "Simulated Exchange"),
    SearchResult("stock", "AAPL", "Apple Inc.", "USD", "NASDAQ"),
]


def by_key(quote: Quote) -> dict[str, Quote]:
    """Returns the answer of a route of quotes that has one quote."""
    return {quote.key: quote}
