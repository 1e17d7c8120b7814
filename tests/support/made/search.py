"""Indexes of the reference data, as a worker with the simulators has them."""

from collections.abc import Iterable
from functools import cache

from quotecast.market import reference
from quotecast.market.assets import Asset
from quotecast.market.feeds import Kind
from quotecast.market.listings import Listing, doviz_listings, pair_listings, stock_listings
from quotecast.market.quotes import CryptoQuote, DovizQuote, StockQuote
from quotecast.market.renames import formers_of, present_symbols, well_known_renames
from quotecast.market.search import Index, search, weight_of


def index_of(listings: Iterable[Listing]) -> Index:
    index = Index()
    index.add(sorted(listings, key=weight_of))
    index.finish()
    return index


def assets() -> list[Asset]:
    return [Asset(ticker=each.ticker, name=each.name, exchange=each.exchange) for each in reference.stocks()]


def stock_quotes() -> dict[str, StockQuote]:
    """Returns quotes whose turnover is in proportion to the company's value."""
    return {
        each.ticker: StockQuote(
            ticker=each.ticker, name=each.name, price=each.price, volume=str(each.shares // 200)
        )
        for each in reference.stocks()
    }


def pair_quotes() -> dict[str, CryptoQuote]:
    return {
        each.ticker: CryptoQuote(
            provider="test",
            exchange="Test",
            ticker=each.ticker,
            name=each.name,
            symbol=each.base,
            price=each.price,
            volume=each.supply / 100,
        )
        for each in reference.pairs()
    }


def doviz_quotes() -> dict[str, DovizQuote]:
    return {
        each.symbol: DovizQuote(
            provider="test",
            symbol=each.symbol,
            name=each.name,
            category=each.category,
            source=each.source,
            unit=each.unit,
            currency=each.currency,
            buying=each.price,
            selling=each.price,
            price=each.price,
        )
        for each in reference.doviz_instruments()
    }


def _formers(kind: Kind) -> dict[str, str]:
    return formers_of(present_symbols(well_known_renames(kind)))


@cache
def indexes() -> tuple[Index, ...]:
    """Returns the indexes of all feeds."""
    return (
        index_of(stock_listings(assets(), stock_quotes(), _formers("stock"))),
        index_of(pair_listings(pair_quotes(), _formers("crypto"))),
        index_of(doviz_listings(doviz_quotes())),
    )


def found(text: str, limit: int = 10) -> list[str]:
    """Returns the tickers that a search over all feeds finds."""
    return [each.ticker for each in search(indexes(), text, limit)]
