"""The heatmap: stocks by sector, each with its change and its share of the market."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import fsum
from typing import Final

from msgspec import Struct

from quotecast.market.quotes import StockQuote

OTHER: Final = "Other"

#: Decimals of a weight; and of a percentage, as in quotes.
_WEIGHT_DECIMALS: Final = 6
_PERCENT_DECIMALS: Final = 4
_UNITS: Final = 10**_WEIGHT_DECIMALS


class HeatmapStock(Struct, frozen=True, gc=False, rename="camel"):
    """One tile; `weight` is the stock's share of all stocks, 0 to 1, with six decimals."""

    ticker: str
    name: str
    industry: str
    price: float
    change: float | None
    change_percent: float | None
    volume: str | None
    weight: float


class HeatmapSector(Struct, frozen=True, rename="camel"):
    """The tiles of a sector, the heaviest first.

    `change_percent` is their weighted mean with four decimals, null if no change is known. A stock with an
    unknown change counts as unchanged.
    """

    sector: str
    change_percent: float | None
    advancers: int
    decliners: int
    unchanged: int
    weight: float
    stocks: Sequence[HeatmapStock]


class Heatmap(Struct, frozen=True, rename="camel"):
    """All sectors, the heaviest first; `last_update` is the newest quote's timestamp."""

    last_update: str | None
    sectors: Sequence[HeatmapSector]


def heatmap_of(quotes: Sequence[StockQuote], shares: Mapping[str, int]) -> Heatmap:
    """Returns the heatmap of some quotes; `shares` gives the outstanding shares by ticker.

    A stock's weight is its market capitalisation: shares times price. With unknown shares it weighs as little
    as the lightest known stock, because the tables name the large companies. If no shares are known, all
    stocks weigh the same.
    """
    sectors: defaultdict[str, list[HeatmapStock]] = defaultdict(list)
    for quote, weight in zip(quotes, _weights(quotes, shares), strict=True):
        sectors[quote.sector or OTHER].append(
            HeatmapStock(
                ticker=quote.ticker,
                name=quote.name,
                industry=quote.industry or OTHER,
                price=quote.price,
                change=quote.change,
                change_percent=quote.change_percent,
                volume=quote.volume,
                weight=weight,
            )
        )
    return Heatmap(
        last_update=max((quote.timestamp for quote in quotes if quote.timestamp), default=None),
        sectors=sorted(
            (_sector(name, tiles) for name, tiles in sectors.items()),
            key=lambda each: (-each.weight, each.sector),
        ),
    )


def _weights(quotes: Sequence[StockQuote], shares: Mapping[str, int]) -> list[float]:
    worth = {
        quote.ticker: quote.price * count for quote in quotes if (count := shares.get(quote.ticker, 0)) > 0
    }
    lightest = min(worth.values(), default=1.0)
    worths = [worth.get(quote.ticker, lightest) for quote in quotes]
    total = fsum(worths)
    # Rounds the running sums, so that the weights add up to exactly 1.
    sums = [round(each / total * _UNITS) for each in accumulate(worths)]
    return [(upper - lower) / _UNITS for lower, upper in pairwise([0, *sums])]


def _sector(name: str, tiles: list[HeatmapStock]) -> HeatmapSector:
    changes = [tile.change or 0.0 for tile in tiles]
    advancers = sum(change > 0 for change in changes)
    decliners = sum(change < 0 for change in changes)
    return HeatmapSector(
        sector=name,
        change_percent=_mean_change(tiles),
        advancers=advancers,
        decliners=decliners,
        unchanged=len(tiles) - advancers - decliners,
        weight=round(fsum(tile.weight for tile in tiles), _WEIGHT_DECIMALS),
        stocks=sorted(tiles, key=lambda tile: (-tile.weight, tile.ticker)),
    )


def _mean_change(tiles: Iterable[HeatmapStock]) -> float | None:
    changes = [(tile.weight, tile.change_percent) for tile in tiles if tile.change_percent is not None]
    if not changes:
        return None
    if not any(weight for weight, _ in changes):
        # Every weight rounds to zero.
        changes = [(1.0, change) for _, change in changes]
    weight = fsum(weight for weight, _ in changes)
    return round(fsum(weight * change for weight, change in changes) / weight, _PERCENT_DECIMALS)
