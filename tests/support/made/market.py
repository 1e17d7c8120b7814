"""Quotes and feed states for tests."""

from collections.abc import Iterable

from quotecast.bus.base import FeedInfo, Snapshot, StoredQuote
from quotecast.market.feeds import Feed
from quotecast.market.moves import shape_digest
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote, StockQuote

INFO = FeedInfo(provider="test")
EPOCH = "0000000000aa00000001"


def wire_epoch(epoch: str = EPOCH, feed: Feed = Feed.STOCKS) -> str:
    """Returns an epoch of the bus as clients see it."""
    return f"{epoch}.{shape_digest(feed)}"


def stock(ticker: str = "AAPL", price: float = 100.0, name: str = "", sector: str = "Energy") -> StockQuote:
    return StockQuote(
        ticker=ticker,
        name=name or f"{ticker} Inc.",
        price=price,
        change=1.0,
        change_percent=1.0,
        open=99.0,
        high=101.0,
        low=98.0,
        previous_close=99.0,
        volume="1000",
        sector=sector,
        industry="Oil",
        timestamp="2026-11-20T15:00:00.000Z",
    )


def pair(ticker: str = "BTC/USDT", price: float = 90_000.0) -> CryptoQuote:
    return CryptoQuote(
        provider="test",
        exchange="Test",
        ticker=ticker,
        name=ticker,
        symbol=ticker.partition("/")[0],
        price=price,
        bid=price - 1,
        ask=price + 1,
        volume=5.0,
        timestamp="2026-11-20T15:00:00.000Z",
    )


def state_of(
    quotes: Iterable[Quote], *, feed: Feed = Feed.STOCKS, epoch: str = EPOCH, seq: int = 1
) -> Snapshot:
    return Snapshot(feed, epoch, seq, INFO, {quote.key: StoredQuote(seq, seq, quote) for quote in quotes})


def doviz(symbol: str = "gram-altin", price: float = 4_000.0) -> DovizQuote:
    return DovizQuote(
        provider="test",
        symbol=symbol,
        name=symbol,
        category="gold",
        source="Kapalıçarşı",
        unit="gram",
        currency="TRY",
        buying=price - 1,
        selling=price,
        price=price,
        timestamp="2026-11-20T15:00:00.000Z",
    )
