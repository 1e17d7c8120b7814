"""The ranking of stocks with the greatest rises and falls."""

from collections.abc import Sequence
from heapq import nsmallest
from typing import Final

from msgspec import Struct

from quotecast.market.quotes import StockQuote

TOP: Final = 20


class Floors(Struct, frozen=True):
    """The least price and volume of a ranked stock: penny stocks and illiquid stocks make noise.

    `price` is in US dollars, `volume` in shares of the day; a stock with an unknown volume is ranked.
    """

    price: float = 0.0
    volume: int = 0


class Mover(Struct, frozen=True, gc=False, rename="camel"):
    """One stock of the ranking."""

    ticker: str
    name: str
    price: float
    change: float | None
    change_percent: float
    volume: str | None
    sector: str


class Movers(Struct, frozen=True, rename="camel"):
    """Gainers from the greatest rise down, losers from the greatest fall up; at most 20 of each.

    `last_update` is the newest quote's timestamp.
    """

    last_update: str | None
    gainers: Sequence[Mover]
    losers: Sequence[Mover]


def movers_of(quotes: Sequence[StockQuote], floors: Floors) -> Movers:
    """Returns the ranking of some quotes, without unchanged stocks; ties go by ticker."""
    ranked = [
        (quote.change_percent or 0.0, quote)
        for quote in quotes
        if quote.price >= floors.price and (quote.volume is None or int(quote.volume) >= floors.volume)
    ]
    gainers = [_mover(quote, percent) for percent, quote in ranked if percent > 0]
    losers = [_mover(quote, percent) for percent, quote in ranked if percent < 0]
    return Movers(
        last_update=max((quote.timestamp for quote in quotes if quote.timestamp), default=None),
        gainers=nsmallest(TOP, gainers, key=lambda each: (-each.change_percent, each.ticker)),
        losers=nsmallest(TOP, losers, key=lambda each: (each.change_percent, each.ticker)),
    )


def _mover(quote: StockQuote, change_percent: float) -> Mover:
    return Mover(
        ticker=quote.ticker,
        name=quote.name,
        price=quote.price,
        change=quote.change,
        change_percent=change_percent,
        volume=quote.volume,
        sector=quote.sector,
    )
