"""Quotes and names of crypto pairs."""

from typing import Annotated, Final

from litestar import Router, get
from litestar.params import PathParameter
from msgspec import Struct

from quotecast.api.answers import Answer, all_quotes, names_answer, quotes_answer, shared_body
from quotecast.api.edge.repeats import repeatable
from quotecast.api.past import At
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import TAG, BarsReading, FeedReading, answered
from quotecast.api.routes.bar_parameters import DEFAULT_BARS, Count, Timeframe
from quotecast.api.routes.bars import crypto_bars
from quotecast.api.routes.quotes import one_quote
from quotecast.api.selection import symbol_of_path
from quotecast.api.services import Services, mirror_at, require_mirror
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote

Pair = Annotated[
    str, PathParameter(description="The pair in any case: `BTC%2FUSDT`, `BTC/USDT` or `BTC-USDT`")
]


class CryptoSymbol(Struct, frozen=True):
    """A pair: `symbol` is its base asset, `quote` its quote asset."""

    ticker: str
    symbol: str
    name: str
    quote: str
    exchange: str
    provider: str

    @classmethod
    def of(cls, quote: CryptoQuote) -> "CryptoSymbol":
        """Returns the pair of a quote."""
        priced_in = quote.ticker.partition("/")[2]
        return cls(quote.ticker, quote.symbol, quote.name, priced_in, quote.exchange, quote.provider)


@get(
    "/quotes",
    summary="Quotes of all pairs",
    operation_class=FeedReading,
    responses=answered(
        dict[str, CryptoQuote], examples.by_key(examples.CRYPTO), "Quotes by pair", 422, 429, 503
    ),
)
@repeatable
async def quotes(services: Services, at: At = None) -> Answer:
    """Changes are over the last 24 hours."""
    mirror = await mirror_at(services, Feed.CRYPTO, at)
    return quotes_answer(mirror, services.monotonic(), all_quotes(mirror))


@get(
    "/quotes/{symbol:path}",
    sync_to_thread=False,
    summary="Quote of one pair",
    operation_class=FeedReading,
    responses=answered(CryptoQuote, examples.CRYPTO, "The quote", 404, 429, 503),
)
@repeatable
def quote(services: Services, symbol: Pair) -> Answer:
    """The slash of the pair may be encoded, plain, or a dash."""
    return one_quote(services, Feed.CRYPTO, symbol_of_path(symbol))


@get(
    "/symbols",
    sync_to_thread=False,
    summary="All pairs",
    operation_class=FeedReading,
    responses=answered(
        list[CryptoSymbol],
        [CryptoSymbol.of(examples.CRYPTO)],
        "The pairs in alphabetical order",
        429,
        503,
    ),
)
@repeatable
def symbols(services: Services) -> Answer:
    """Lists the pairs in alphabetical order."""
    mirror = require_mirror(services, Feed.CRYPTO)
    return names_answer(mirror, services.monotonic(), shared_body(mirror, _symbols))


@get(
    "/bars/{symbol:path}",
    summary="Bars of one pair",
    operation_class=BarsReading,
    responses=answered(list[Bar], examples.BARS, "Bars in ascending order", 404, 422, 429, 503),
)
@repeatable
async def bars(
    services: Services, symbol: Pair, timeframe: Timeframe = "1h", limit: Count = DEFAULT_BARS
) -> Answer:
    """Returns the newest `limit` bars, or all if there are fewer. Days, weeks and months are in UTC.

    Periods without trades have no bar. All bars come from the exchange of the pair's quote. The last bar's
    close is the current price.
    """
    return await crypto_bars(services, symbol_of_path(symbol), timeframe, limit)


def _symbols(mirror: Mirror) -> bytes:
    known = sorted(mirror.quotes().items())
    return codec.encode_json([CryptoSymbol.of(quote) for _, quote in known if isinstance(quote, CryptoQuote)])


ROUTER: Final = Router(
    "/api/crypto",
    route_handlers=[quotes, quote, bars, symbols],
    tags=["Crypto"],
    opt={
        TAG: "Pairs of crypto assets: quotes and bars; changes are over the last 24 hours.",
        "limit": "crypto",
    },
)
