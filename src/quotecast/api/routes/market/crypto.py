"""Quotes and names of crypto pairs."""

from typing import Final

from litestar import Router, get
from msgspec import Struct

from quotecast.api.answers.answers import Answer, all_quotes_json, names_answer, symbols_body
from quotecast.api.answers.csv import Format, formatted, formatted_apart
from quotecast.api.answers.lasting import lasting_answer
from quotecast.api.answers.tables import QUOTE, QUOTES
from quotecast.api.bars.handlers import crypto_bars
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.past import At
from quotecast.api.market.selection import symbol_of_path
from quotecast.api.market.services import MarketServices, mirror_at, require_mirror
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import FeedReading, QuotesReading, SymbolReading, answered
from quotecast.api.routes.market.feed_bars import FeedBars, Symbol, bar_handlers
from quotecast.api.routes.market.symbol_pages import After, PageLimit, SymbolPage, one_quote
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote


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
    operation_id="getCryptoQuotes",
    summary="Quotes of all pairs",
    operation_class=QuotesReading,
    responses=answered(
        dict[str, CryptoQuote], examples.by_key(examples.CRYPTO), "Quotes by pair", 422, 429, 503
    ),
    opt={"symbols": "query"},
)
@repeatable
async def quotes(
    services: MarketServices,
    *,
    limit: PageLimit = None,
    after: After = None,
    at: At = None,
    form: Format = "json",
) -> Answer:
    """Changes are over the last 24 hours.

    With `limit` or `after` the answer is a page of all pairs in their order.
    """
    page = SymbolPage(limit, after)
    mirror, now = await mirror_at(services, Feed.CRYPTO, at), services.monotonic()
    answer = page.answer(mirror, now) if page else lasting_answer(mirror, now, all_quotes_json)
    return await formatted_apart(answer, form, QUOTES[Feed.CRYPTO])


@get(
    "/quotes/{symbol:path}",
    sync_to_thread=False,
    operation_id="getCryptoQuote",
    summary="Quote of one pair",
    operation_class=SymbolReading,
    responses=answered(CryptoQuote, examples.CRYPTO, "The quote", 404, 422, 429, 503),
    opt={"symbols": "path"},
)
@repeatable
def quote(services: MarketServices, symbol: Symbol, form: Format = "json") -> Answer:
    """The slash of the pair may be encoded, plain, or a dash."""
    return formatted(one_quote(services, Feed.CRYPTO, symbol_of_path(symbol)), form, QUOTE[Feed.CRYPTO])


@get(
    "/symbols",
    sync_to_thread=False,
    operation_id="listCryptoSymbols",
    summary="All pairs",
    operation_class=FeedReading,
    responses=answered(
        list[CryptoSymbol],
        [CryptoSymbol.of(examples.CRYPTO)],
        "The pairs in alphabetical order",
        429,
        503,
    ),
    opt={"symbols": "list"},
)
@repeatable
def symbols(services: MarketServices) -> Answer:
    """Lists the pairs in alphabetical order."""
    mirror = require_mirror(services, Feed.CRYPTO)
    return names_answer(mirror, services.monotonic(), symbols_body(mirror, services.only, _symbols))


def _symbols(mirror: Mirror, keys: frozenset[str] | None) -> bytes:
    known = [quote for key, quote in sorted(mirror.quotes().items()) if keys is None or key in keys]
    return codec.encode_json([CryptoSymbol.of(quote) for quote in known if isinstance(quote, CryptoQuote)])


_BARS: Final = FeedBars(
    feed=Feed.CRYPTO,
    name="Crypto",
    one="pair",
    several="pairs",
    read=crypto_bars,
    bars=list[Bar],
    bars_by_symbol=dict[str, list[Bar]],
    symbol="BTC/USDT",
    example=examples.BARS,
    about=(
        "Returns the newest `limit` bars, or all if there are fewer. Days, weeks and months are in UTC.\n\n"
        "Periods without trades have no bar. All bars come from the exchange of the pair's quote. The last "
        "bar's close is the current price."
    ),
)
#: The routes that read the feed only.
FEED_HANDLERS: Final = [quotes, quote, symbols]

ROUTER: Final = Router(
    "/api/crypto",
    route_handlers=[quotes, quote, *bar_handlers(_BARS), symbols],
    tags=["Crypto"],
    opt={
        "tag": "Pairs of crypto assets: quotes and bars; changes are over the last 24 hours.",
        "feed": Feed.CRYPTO,
        "limit": "crypto",
    },
)
