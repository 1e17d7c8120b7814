"""Overviews of the stock market: the heatmap by sector, and the movers."""

from collections.abc import Mapping
from operator import attrgetter

from litestar import get

from quotecast.api.answers.answers import Answer
from quotecast.api.answers.csv import Format, formatted
from quotecast.api.answers.lasting import lasting_answer
from quotecast.api.answers.tables import MOVERS
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.services import MarketServices, require_mirror
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import FeedReading, answered
from quotecast.feed.mirror import Mirror
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.market.heatmap import Heatmap, heatmap_of
from quotecast.market.movers import Floors, Movers, movers_of
from quotecast.market.quotes import StockQuote


@get(
    "/heatmap",
    sync_to_thread=False,
    operation_id="getHeatmap",
    summary="All stocks by sector",
    operation_class=FeedReading,
    responses=answered(Heatmap, examples.HEATMAP, "Sectors and stocks, the heaviest first", 429, 503),
)
@repeatable
def heatmap(services: MarketServices) -> Answer:
    """A stock's weight is its share of the total market capitalization.

    Weights have six decimals and sum up to 1; percentages have four decimals.
    """
    return heatmap_answer(services)


def heatmap_answer(services: MarketServices) -> Answer:
    """Returns all stocks by sector. Raises ProviderMissing or NoData."""
    mirror = require_mirror(services, Feed.STOCKS)
    return lasting_answer(mirror, services.monotonic(), heatmap_json, shares=services.shares)


def heatmap_json(mirror: Mirror, *, shares: Mapping[str, int]) -> bytes:
    """Returns all stocks by sector."""
    # Weights are rounded one after the other: in one order they are equal at every worker.
    stocks = sorted(_stocks(mirror), key=attrgetter("ticker"))
    return encode_json(heatmap_of(stocks, shares))


@get(
    "/movers",
    sync_to_thread=False,
    operation_id="getMovers",
    summary="The 20 stocks that rose, and the 20 that fell the most",
    operation_class=FeedReading,
    responses=answered(Movers, examples.MOVERS, "Both lists, the greatest move first", 422, 429, 503),
)
@repeatable
def movers(services: MarketServices, form: Format = "json") -> Answer:
    """Omits very cheap and thinly traded stocks, so lists may be shorter."""
    return formatted(movers_answer(services), form, MOVERS)


def movers_answer(services: MarketServices) -> Answer:
    """Returns both lists. Raises ProviderMissing or NoData."""
    mirror = require_mirror(services, Feed.STOCKS)
    return lasting_answer(mirror, services.monotonic(), movers_json, (), services.floors)


def movers_json(mirror: Mirror, floors: Floors) -> bytes:
    """Returns both lists."""
    return encode_json(movers_of(_stocks(mirror), floors))


def _stocks(mirror: Mirror) -> list[StockQuote]:
    return [quote for quote in mirror.quotes().values() if isinstance(quote, StockQuote)]
