"""Overviews of the stock market: the heatmap by sector, and the movers."""

from collections.abc import Mapping

from litestar import get

from quotecast.api.answers import Answer, quotes_answer, shared_body
from quotecast.api.edge.repeats import repeatable
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import FeedReading, answered
from quotecast.api.services import Services, require_mirror
from quotecast.feed.mirror import Mirror
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.market.heatmap import Heatmap, heatmap_of
from quotecast.market.movers import Floors, Movers, movers_of
from quotecast.market.quotes import StockQuote


@get(
    "/heatmap",
    sync_to_thread=False,
    summary="All stocks by sector",
    operation_class=FeedReading,
    responses=answered(Heatmap, examples.HEATMAP, "Sectors and stocks, the heaviest first", 429, 503),
)
@repeatable
def heatmap(services: Services) -> Answer:
    """A stock's weight is its share of the total market capitalization.

    Weights have six decimals and sum up to 1; percentages have four decimals.
    """
    mirror = require_mirror(services, Feed.STOCKS)
    body = shared_body(mirror, _heatmap_json, shares=services.shares)
    return quotes_answer(mirror, services.monotonic(), body)


def _heatmap_json(mirror: Mirror, *, shares: Mapping[str, int]) -> bytes:
    return encode_json(heatmap_of(_stocks(mirror), shares))


@get(
    "/movers",
    sync_to_thread=False,
    summary="The 20 stocks that rose, and the 20 that fell the most",
    operation_class=FeedReading,
    responses=answered(Movers, examples.MOVERS, "Both lists, the greatest move first", 429, 503),
)
@repeatable
def movers(services: Services) -> Answer:
    """Omits very cheap and thinly traded stocks, so lists may be shorter."""
    mirror = require_mirror(services, Feed.STOCKS)
    body = shared_body(mirror, _movers_json, services.floors)
    return quotes_answer(mirror, services.monotonic(), body)


def _movers_json(mirror: Mirror, floors: Floors) -> bytes:
    return encode_json(movers_of(_stocks(mirror), floors))


def _stocks(mirror: Mirror) -> list[StockQuote]:
    return [quote for quote in mirror.quotes().values() if isinstance(quote, StockQuote)]
