"""Turkish currency, gold and precious-metal quotes, by symbol and by category."""

from functools import partial
from typing import Annotated, Any, Final

from litestar import Router, get
from litestar.params import QueryParameter
from msgspec import Struct

from quotecast.api.answers.answers import Answer, all_quotes_json, names_answer, symbols_body
from quotecast.api.answers.csv import Format, formatted
from quotecast.api.answers.lasting import lasting_answer
from quotecast.api.answers.tables import QUOTE, QUOTES
from quotecast.api.bars.handlers import DovizBar, doviz_bars
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.past import At
from quotecast.api.market.selection import symbol_of_path
from quotecast.api.market.services import MarketServices, mirror_at, require_mirror
from quotecast.api.reference import examples
from quotecast.api.reference.openapi import FeedReading, QuotesReading, answered
from quotecast.api.routes.market.feed_bars import FeedBars, Symbol, bar_handlers
from quotecast.api.routes.market.symbol_pages import After, PageLimit, SymbolPage, one_quote
from quotecast.errors import InvalidValue
from quotecast.feed.mirror import Mirror
from quotecast.market import codec
from quotecast.market.feeds import Feed
from quotecast.market.instruments import CATEGORIES
from quotecast.market.quotes import DovizQuote, Quote

Category = Annotated[
    str | None,
    QueryParameter(description="Only this category", schema_extra={"enum": [*CATEGORIES]}),
]


class DovizSymbol(Struct, frozen=True):
    """An instrument; `source` is the bank or market of its price."""

    symbol: str
    name: str
    unit: str
    source: str

    @classmethod
    def of(cls, quote: DovizQuote) -> "DovizSymbol":
        """Returns the instrument of a quote."""
        return cls(quote.symbol, quote.name, quote.unit, quote.source)


@get(
    "/quotes",
    operation_id="getDovizQuotes",
    summary="Quotes of everything, or of one category",
    operation_class=QuotesReading,
    responses=answered(
        dict[str, DovizQuote], examples.by_key(examples.DOVIZ), "Quotes by symbol", 422, 429, 503
    ),
    opt={"symbols": "query"},
)
@repeatable
async def quotes(
    services: MarketServices,
    category: Category = None,
    *,
    limit: PageLimit = None,
    after: After = None,
    at: At = None,
    form: Format = "json",
) -> Answer:
    """Currencies, gold, silver, precious metals and the index.

    With `limit` or `after` the answer is a page of them in the order of symbols.
    """
    page = SymbolPage(limit, after)
    wanted = None if category is None else category.strip().lower()
    mirror, now = await mirror_at(services, Feed.DOVIZ, at), services.monotonic()
    if wanted is not None and wanted not in CATEGORIES:
        raise InvalidValue("category", f"Must be one of {', '.join(CATEGORIES)}")
    if page:
        answer = page.answer(mirror, now, wants=None if wanted is None else partial(_is_of, wanted))
    elif wanted is None:
        answer = lasting_answer(mirror, now, all_quotes_json)
    else:
        answer = lasting_answer(mirror, now, _quotes_of, (), wanted)
    return formatted(answer, form, QUOTES[Feed.DOVIZ])


@get(
    "/quotes/{symbol:path}",
    sync_to_thread=False,
    operation_id="getDovizQuote",
    summary="Quote of one symbol",
    operation_class=FeedReading,
    responses=answered(DovizQuote, examples.DOVIZ, "The quote", 404, 422, 429, 503),
    opt={"symbols": "path"},
)
@repeatable
def quote(services: MarketServices, symbol: Symbol, form: Format = "json") -> Answer:
    """An ISO code (`USD`), a slug (`gram-altin`) or a bank's ticker (`akbank-USD`), in any case."""
    return formatted(one_quote(services, Feed.DOVIZ, symbol_of_path(symbol)), form, QUOTE[Feed.DOVIZ])


@get(
    "/symbols",
    sync_to_thread=False,
    operation_id="listDovizSymbols",
    summary="All symbols by category",
    operation_class=FeedReading,
    responses=answered(
        dict[str, list[DovizSymbol]],
        {category: [] for category in CATEGORIES} | {"gold": [DovizSymbol.of(examples.DOVIZ)]},
        "Every category, including empty ones",
        429,
        503,
    ),
    opt={"symbols": "list"},
)
@repeatable
def symbols(services: MarketServices) -> Answer:
    """Lists all symbols, including those of single banks."""
    mirror = require_mirror(services, Feed.DOVIZ)
    return names_answer(mirror, services.monotonic(), symbols_body(mirror, services.only, _symbols))


def _quotes_of(mirror: Mirror, category: str) -> bytes:
    found = (entry for entry in mirror.ordered() if entry.quote and _is_of(category, entry.quote))
    return codec.object_json((entry.key, entry.full_json()) for entry in found)


def _is_of(category: str, quote: Quote) -> bool:
    return isinstance(quote, DovizQuote) and quote.category == category


def _symbols(mirror: Mirror, keys: frozenset[str] | None) -> bytes:
    quotes = sorted(mirror.quotes().items())
    known: list[Any] = [quote for key, quote in quotes if keys is None or key in keys]
    listing = {
        category: [DovizSymbol.of(quote) for quote in known if quote.category == category]
        for category in CATEGORIES
    }
    return codec.encode_json(listing)


_BARS: Final = FeedBars(
    feed=Feed.DOVIZ,
    name="Doviz",
    one="symbol",
    several="symbols",
    read=doviz_bars,
    bars=list[DovizBar],
    bars_by_symbol=dict[str, list[DovizBar]],
    symbol="gram-altin",
    example=examples.DOVIZ_BARS,
    about=(
        "Returns the newest `limit` bars, or all if there are fewer. Days, weeks and months are "
        "Istanbul's.\n\n"
        "The service makes these bars from its own quotes: they are of selling prices, begin when it first "
        "ran, and have no volume. Minutes without a change have no bar. The last bar's close is the current "
        "price."
    ),
)
#: The routes that read the feed only.
FEED_HANDLERS: Final = [quotes, quote, symbols]

ROUTER: Final = Router(
    "/api/doviz",
    route_handlers=[quotes, quote, *bar_handlers(_BARS), symbols],
    tags=["Doviz"],
    opt={
        "tag": "Turkish currency, gold and precious-metal quotes, those of single banks among them.",
        "feed": Feed.DOVIZ,
        "limit": "doviz",
    },
)
