"""Tick sizes: the smallest step of an instrument's prices.

US stocks of a dollar or more are quoted in cents, cheaper ones in hundredths of a cent (SEC Rule 612).
Quotes of other feeds do not carry the tick size of their venue, so it is the last decimal of their prices.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.money import decimal_places
from quotecast.market.quotes import CryptoQuote, Quote, StockQuote

#: Bars whose prices are looked at: with four prices each, a last decimal that is 0 in all of them is none.
_LOOKED_AT: Final = 50
_CENTS, _HUNDREDTHS = 2, 4
_MOST: Final = 12


def decimals_of_quote(quote: Quote) -> int:
    """Returns the decimals of a quote's prices."""
    if isinstance(quote, StockQuote):
        return _CENTS if quote.price >= 1 else _HUNDREDTHS
    prices = [quote.price, quote.open, quote.high, quote.low]
    prices += [quote.bid, quote.ask] if isinstance(quote, CryptoQuote) else [quote.buying, quote.selling]
    return _most_decimals(price for price in prices if price is not None)


def tick_size(feed: Feed, decimals: int, bars: Iterable[Bar]) -> str:
    """Returns the tick size of an instrument, `0.01`, from the decimals of its quote and its newest bars."""
    if feed is not Feed.STOCKS:
        newest = [*bars][-_LOOKED_AT:]
        prices = (price for bar in newest for price in (bar.open, bar.high, bar.low, bar.close))
        decimals = max(decimals, _most_decimals(prices))
    return f"{Decimal(1).scaleb(-decimals):f}"


def _most_decimals(prices: Iterable[float]) -> int:
    exact = (Decimal(repr(price)).normalize() for price in prices)
    return min(_MOST, max(map(decimal_places, exact), default=0))
