"""Prices of any instruments on any day in any currency."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Annotated, Final, Literal

from litestar import Router, get
from litestar.params import PathParameter, QueryParameter
from msgspec.structs import replace

from quotecast.api.answers.answers import Answer
from quotecast.api.answers.csv import CSV, CsvTable
from quotecast.api.answers.tables import columns
from quotecast.api.bars.batches import MAX_BATCH
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.selection import (
    AS_TEXT,
    MAX_SYMBOLS,
    missing_headers,
    renamed_headers,
    selection_of,
)
from quotecast.api.market.services import Services
from quotecast.api.prices import journals
from quotecast.api.prices.actions import Adjusted
from quotecast.api.prices.history import DayPrice, PathStep, PriceHistory, Wanted, price_history, prices_on
from quotecast.api.prices.instruments import Instrument, Measure, Unit, feeds_of, find_instrument, fineness_of
from quotecast.api.prices.prices import Price, prices_now, unpriced
from quotecast.api.prices.rates import RATE_FEEDS, RateShown, currency_of
from quotecast.api.reference.openapi import BatchReading, SymbolReading, answered
from quotecast.api.route_table import EVERY
from quotecast.api.routes.as_of import AsOf, view_as_of
from quotecast.api.routes.days import day_parameter
from quotecast.api.routes.market.day_answers import Day, answer_of_day, asked_day
from quotecast.errors import InvalidValue, QuotecastError, SymbolNotFound
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed, Kind
from quotecast.providers.offers import terms_of

GROUP: Final = "prices"
#: Days of one history.
MAX_DAYS: Final = 5000
DEFAULT_DAYS: Final = 365
#: Lists of prices that a worker remembers; one of 500 in another currency takes 300 KB.
MAX_RECENT: Final = 32

Format = Annotated[
    Literal["json", "csv", "beancount", "ledger"],
    QueryParameter(
        name="format",
        description=(
            "`csv` answers a table with a header line; `beancount` and `ledger` (also for hledger) answer "
            "price directives"
        ),
    ),
]
Symbols = Annotated[
    list[str],
    QueryParameter(
        description=(
            f"Comma-separated symbols of any feed in any case, or metals (`XAU`, `XAG`, `XPT`, `XPD`): at "
            f"most {MAX_SYMBOLS}, with `date` {MAX_BATCH}; may be repeated"
        ),
        schema_extra=AS_TEXT,
    ),
]
Symbol = Annotated[
    str,
    PathParameter(
        description=(
            "A symbol of any feed in any case, or a metal (`XAU`, `XAG`, `XPT`, `XPD`); a pair is "
            "`BTC%2FUSDT`, `BTC/USDT` or `BTC-USDT`"
        )
    ),
]
Currency = Annotated[
    str | None,
    QueryParameter(
        description=(
            "Currency of the prices: a code of ISO 4217, also of a metal, or a coin; by default that of each "
            "quote"
        )
    ),
]
First = Annotated[
    str | None,
    day_parameter("start", f"First day; {DEFAULT_DAYS} days before the last one by default", "2026-03-01"),
]
Last = Annotated[str | None, day_parameter("end", "Last day; today by default", "2026-03-31")]
Type = Annotated[
    Kind | None,
    QueryParameter(
        name="type",
        description="Kind of the symbols; by default the first of stock, crypto and doviz that has one",
    ),
]
MetalUnit = Annotated[Unit, QueryParameter(description="Amount of a metal that a price is for")]
Fineness = Annotated[
    str | None,
    QueryParameter(
        description="Fine part of a metal: thousandths (`916`) or karats (`22k`); fine metal by default"
    ),
]
Adjustment = Annotated[
    Adjusted,
    QueryParameter(
        description="Actions for which closes of stocks are adjusted; `all` are splits and dividends"
    ),
]


SHOWN_RATE: Final = RateShown(
    source="USD",
    target="TRY",
    rate=44.18,
    symbol="USD",
    timestamp=None,
    day=date(2026, 3, 31),
    provider="simulator",
)
_PRICE: Final = Price(
    symbol="AAPL",
    type="stock",
    name="Apple Inc.",
    unit="share",
    price=8387.1312,
    currency="TRY",
    day=date(2026, 3, 31),
    day_asked=date(2026, 4, 1),
    status="close",
    quoted_price=189.84,
    quoted_currency="USD",
    rates=[SHOWN_RATE],
    provider="simulator",
    show="yes",
)
_HISTORY: Final = PriceHistory(
    symbol="AAPL",
    type="stock",
    name="Apple Inc.",
    unit="share",
    currency="TRY",
    quoted_currency="USD",
    path=[PathStep(source="USD", target="TRY", symbol="USD", provider="simulator")],
    provider="simulator",
    terms=terms_of("simulator"),
    prices=[
        DayPrice(
            day=date(2026, 3, 31),
            price=8387.1312,
            quoted_price=189.84,
            rate=44.18,
            rate_date=date(2026, 3, 31),
        )
    ],
)


#: Without the rates, of which a price may have several, and the object of the terms.
_COLUMNS: Final = tuple(name for name in columns(Price) if name not in ("rates", "terms"))
_TABLE: Final = CsvTable(_COLUMNS, dict.values)
_ROW: Final = CsvTable(_COLUMNS, lambda price: [price])
_HISTORY_TABLE: Final = CsvTable(columns(DayPrice), lambda history: history["prices"])


@get(
    "/",
    operation_id="getPrices",
    summary="Prices of several instruments, on any day, in any currency",
    operation_class=BatchReading,
    responses=answered(dict[str, Price], {"AAPL": _PRICE}, "Prices by symbol", 422, 429, 503),
    opt={"symbols": "list"},
)
@repeatable
async def prices(
    services: Services,
    *,
    symbols: Symbols,
    currency: Currency = None,
    day: Day = None,
    kind: Type = None,
    unit: MetalUnit = "ounce",
    fineness: Fineness = None,
    adjusted: Adjustment = "splits",
    as_of: AsOf = None,
    form: Format = "json",
) -> Answer:
    """Prices are quotes, or with `date` closes, times rates of the same day.

    Nothing is silently of another day: `date` is that of the price, and each rate has its own. Omits unknown
    symbols; `X-Missing-Count` counts them and `X-Missing-Symbols` names them. A price that is not known is
    null, and `problem` has the reason; if no price is known, the answer is an error.
    """
    services = view_as_of(services, as_of)
    names = selection_of(symbols)
    if names == "all":
        raise InvalidValue("symbols", f"Name at most {MAX_SYMBOLS} symbols")
    asked = asked_day(services, day)
    if asked and len(names) > MAX_BATCH:
        raise InvalidValue("symbols", f"Name at most {MAX_BATCH} symbols with a date")
    code = None if currency is None else currency_of(services, "currency", currency)
    query = services.view, names, code, kind, unit, fineness
    if asked is None and (recent := services.recent_prices.get(query)) and recent.is_current():
        return _formatted(recent, form, _TABLE)
    feeds, measure = feeds_of(services, kind), Measure(unit, fineness_of(fineness))
    found = {name: find_instrument(services, name, feeds, measure) for name in names}
    # Two spellings may name one instrument.
    known = {each.symbol: each for each in found.values() if each}
    results = await _results(services, [*known.values()], code, asked, adjusted)
    if results and not any(isinstance(each, Price) for each in results):
        raise next(each for each in results if isinstance(each, QuotecastError))
    body = {
        symbol: each if isinstance(each, Price) else unpriced(services, instrument, code, asked, each)
        for (symbol, instrument), each in zip(known.items(), results, strict=True)
    }
    missing = [name for name, each in found.items() if each is None]
    notes = missing_headers(missing)
    for feed in feeds:
        named = ((name, each.symbol) for name, each in found.items() if each and each.feed is feed)
        notes += renamed_headers(services.mirrors[feed], named)
    used, searched = _feeds_behind(known.values(), code), feeds if missing else ()
    answer = answer_of_day(services, encode_json(body), used, asked, *notes, searched=searched)
    if asked is None:
        # Stored until a quote changes: nobody repeats a read of a long list.
        recent_prices = services.recent_prices
        recent_prices.pop(query, None)
        if len(recent_prices) >= MAX_RECENT:
            del recent_prices[next(iter(recent_prices))]
        recent_prices[query] = answer
    return _formatted(answer, form, _TABLE)


@get(
    "/{symbol:str}",
    operation_id="getPrice",
    summary="Price of one instrument, on any day, in any currency",
    operation_class=SymbolReading,
    responses=answered(Price, replace(_PRICE, terms=terms_of("simulator")), "The price", 404, 422, 429, 503),
    opt={"symbols": "list"},
)
@repeatable
async def price(
    services: Services,
    symbol: Symbol,
    *,
    currency: Currency = None,
    day: Day = None,
    kind: Type = None,
    unit: MetalUnit = "ounce",
    fineness: Fineness = None,
    adjusted: Adjustment = "splits",
    as_of: AsOf = None,
    form: Format = "json",
) -> Answer:
    """See the prices of several instruments; a price that is not known is an error."""
    services = view_as_of(services, as_of)
    asked = asked_day(services, day)
    code = None if currency is None else currency_of(services, "currency", currency)
    instrument = _instrument(services, symbol, kind, Measure(unit, fineness_of(fineness)))
    (found,) = await _results(services, [instrument], code, asked, adjusted)
    if isinstance(found, QuotecastError):
        raise found
    notes = renamed_headers(services.mirrors[instrument.feed], [(symbol, instrument.symbol)])
    body = encode_json(replace(found, terms=terms_of(found.provider)))
    answer = answer_of_day(services, body, _feeds_behind([instrument], code), asked, *notes)
    return _formatted(answer, form, _ROW)


@get(
    "/{symbol:str}/history",
    operation_id="getPriceHistory",
    summary="Prices of one instrument by day, in any currency",
    operation_class=SymbolReading,
    responses=answered(PriceHistory, _HISTORY, "Prices in ascending order", 404, 422, 429, 503),
    opt={"symbols": "list"},
)
@repeatable
async def history(
    services: Services,
    symbol: Symbol,
    *,
    currency: Currency = None,
    start: First = None,
    end: Last = None,
    kind: Type = None,
    unit: MetalUnit = "ounce",
    fineness: Fineness = None,
    adjusted: Adjustment = "splits",
    as_of: AsOf = None,
    form: Format = "json",
) -> Answer:
    """Closes times the closes of the rates on the same day, or on the last day before it that has one.

    Days without a close are left out; the last price may be of a day in progress.
    """
    services = view_as_of(services, as_of)
    last = asked_day(services, end, "end") or services.moment().date()
    first = last - timedelta(days=DEFAULT_DAYS) if start is None else asked_day(services, start, "start")
    if first is None or first > last:
        raise InvalidValue("start", "Must not be after end")
    if (last - first).days >= MAX_DAYS:
        raise InvalidValue("start", f"Must be at most {MAX_DAYS - 1} days before end")
    code = None if currency is None else currency_of(services, "currency", currency)
    instrument = _instrument(services, symbol, kind, Measure(unit, fineness_of(fineness)))
    found = await price_history(services, instrument, Wanted(code, first, last, adjusted))
    body = await asyncio.to_thread(encode_json, found)
    notes = renamed_headers(services.mirrors[instrument.feed], [(symbol, instrument.symbol)])
    answer = answer_of_day(services, body, _feeds_behind([instrument], code), last, *notes)
    return await asyncio.to_thread(_formatted, answer, form, _HISTORY_TABLE)


def _instrument(services: Services, symbol: str, kind: Kind | None, measure: Measure) -> Instrument:
    found = find_instrument(services, symbol, feeds_of(services, kind), measure)
    if found is None:
        raise SymbolNotFound
    return found


async def _results(
    services: Services,
    instruments: Sequence[Instrument],
    currency: str | None,
    day: date | None,
    adjusted: Adjusted,
) -> Sequence[Price | QuotecastError]:
    if day is None:
        # No action is younger than the price of now.
        return [*prices_now(services, instruments, currency)]
    return await prices_on(services, instruments, Wanted(currency, day, day, adjusted))


def _feeds_behind(instruments: Iterable[Instrument], currency: str | None) -> set[Feed]:
    return {each.feed for each in instruments}.union(RATE_FEEDS if currency else ())


def _formatted(answer: Answer, form: Format, table: CsvTable) -> Answer:
    match form:
        case "csv":
            return answer.converted(table.csv_of, CSV)
        case "beancount":
            return answer.converted(journals.beancount, journals.TEXT)
        case "ledger":
            return answer.converted(journals.ledger, journals.TEXT)
        case _:
            return answer


ROUTER: Final = Router(
    "/api/prices",
    route_handlers=[prices, price, history],
    tags=["Prices"],
    opt={
        "tag": "Prices of any instrument on any day in any currency, and the rates between currencies.",
        "feed": EVERY,
        "door": "bars",
        "limit": GROUP,
    },
)
