"""Quotes and names of crypto pairs."""

from typing import Annotated, Final

from litestar import Router, get
from litestar.params import PathParameter
from msgspec import Struct

from quotecast.api.answers import Answer, everything, of_names, of_quotes, shared
from quotecast.api.edge.repeats import repeatable, repeatable_read
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import TAG, BarsReading, FeedReading, answered
from quotecast.api.routes.bar_parameters import DEFAULT_BARS, Count, Timeframe
from quotecast.api.routes.bars import crypto_bars
from quotecast.api.routes.quotes import one_quote
from quotecast.api.selection import symbol_of_path
from quotecast.api.services import HttpRequest, Services, loaded
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote

Pair = Annotated[
    str, PathParameter(description="The pair in any case: `BTC%2FUSDT`, `BTC/USDT` or `BTC-USDT`")
]


class CryptoSymbol(Struct, frozen=True):
    """A pair: `symbol` is its base asset, `quote` what that is priced in."""

    ticker: str
    symbol: str
    name: str
    quote: str
    exchange: str
    provider: str

    @classmethod
    def of(cls, quote: CryptoQuote) -> "CryptoSymbol":
        """What the quote is a quote of."""
        priced_in = quote.ticker.partition("/")[2]
        return cls(quote.ticker, quote.symbol, quote.name, priced_in, quote.exchange, quote.provider)


@get(
    "/quotes",
    sync_to_thread=False,
    summary="Quotes of all pairs",
    operation_class=FeedReading,
    responses=answered(dict[str, CryptoQuote], examples.by_key(examples.CRYPTO), "Quotes by pair", 429, 503),
)
def quotes(request: HttpRequest) -> Answer:
    """Changes are over the last 24 hours."""
    return repeatable(request, _quotes)


def _quotes(services: Services) -> Answer:
    mirror = loaded(services, Feed.CRYPTO)
    return of_quotes(mirror, services.monotonic(), everything(mirror))


@get(
    "/quotes/{symbol:path}",
    sync_to_thread=False,
    summary="Quote of one pair",
    operation_class=FeedReading,
    responses=answered(CryptoQuote, examples.CRYPTO, "The quote", 404, 429, 503),
)
def quote(request: HttpRequest, symbol: Pair) -> Answer:
    """The slash of the pair may be encoded, plain, or a dash."""
    return repeatable(request, one_quote, Feed.CRYPTO, symbol_of_path(symbol))


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
def symbols(request: HttpRequest) -> Answer:
    """What may be asked for, in alphabetical order."""
    return repeatable(request, _listing)


def _listing(services: Services) -> Answer:
    mirror = loaded(services, Feed.CRYPTO)
    return of_names(mirror, services.monotonic(), shared(mirror, _symbols))


@get(
    "/bars/{symbol:path}",
    summary="Bars of one pair",
    operation_class=BarsReading,
    responses=answered(list[Bar], examples.BARS, "Bars in ascending order", 404, 422, 429, 503),
)
async def bars(
    request: HttpRequest, symbol: Pair, timeframe: Timeframe = "1h", limit: Count = DEFAULT_BARS
) -> Answer:
    """The newest `limit` bars; fewer if there are not so many. Days, weeks and months are those of UTC.

    There is no bar where nothing traded. All bars are of the exchange that the pair's quote names; the last
    one closes with its price of now.
    """
    return await repeatable_read(request, crypto_bars, symbol_of_path(symbol), timeframe, limit)


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
