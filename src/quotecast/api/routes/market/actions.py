"""Corporate actions of stocks, and bars that are adjusted for others than splits."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Annotated, Final

import msgspec
from litestar import get
from litestar.params import QueryParameter
from msgspec.structs import replace

from quotecast.api.answers.answers import JSON, Answer, SharedBody, cache_status, cached_for, document_answer
from quotecast.api.answers.csv import CsvTable, Format, formatted
from quotecast.api.answers.tables import columns
from quotecast.api.bars.batches import MAX_BATCH, BatchSymbols, named_symbols
from quotecast.api.bars.market import MAX_AGE, market_of
from quotecast.api.bars.parameters import StockQuery
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.selection import missing_headers, renamed_headers
from quotecast.api.market.services import Services, require_mirror
from quotecast.api.prices.actions import Adjusted, actions_known_at, adjustment_of, read_actions
from quotecast.api.prices.closes import Closes, name_of, read_closes, today_of
from quotecast.api.reference.openapi import ActionsReading, answered
from quotecast.api.routes.as_of import AsOf, view_as_of
from quotecast.api.routes.days import day_of, day_parameter
from quotecast.background import take_turns
from quotecast.errors import InvalidValue, QuotecastError
from quotecast.market.actions import Adjustment, CorporateAction
from quotecast.market.bars import Bar
from quotecast.market.codec import encode_json
from quotecast.market.conversion import times
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK

DEFAULT_DAYS: Final = timedelta(days=365)
EARLIEST: Final = date(1900, 1, 1)

First = Annotated[str | None, day_parameter("start", "First ex-day; a year ago by default", "2020-08-01")]
Last = Annotated[str | None, day_parameter("end", "Last ex-day; all announced ones by default", "2026-11-20")]
BarAdjustment = Annotated[
    Adjusted,
    QueryParameter(
        name="adjustment",
        description=(
            "Actions for which bars are adjusted: none (`raw`), splits, or splits and dividends (`all`); "
            "weeks and months for splits only"
        ),
    ),
]
EXAMPLE: Final = CorporateAction(
    id="ca4f0d1e-8b8c-4a39-9a0a-0a6d3d1c7a10",
    type="split",
    symbol="AAPL",
    ex_day=date(2020, 8, 31),
    record_day=date(2020, 8, 24),
    payable_day=date(2020, 8, 28),
    old_shares=1.0,
    new_shares=4.0,
    provider="alpaca",
)
_TABLE: Final = CsvTable(columns(CorporateAction))
_decode: Final = msgspec.json.Decoder(list[Bar]).decode


@get(
    "/actions",
    operation_id="listCorporateActions",
    summary="Corporate actions of several stocks",
    operation_class=ActionsReading,
    responses=answered(
        list[CorporateAction], [EXAMPLE], "Actions in the order of their ex-days", 422, 429, 503
    ),
    opt={"door": "bars", "symbols": "query"},
)
@repeatable
async def actions(
    services: Services,
    *,
    symbols: BatchSymbols,
    start: First = None,
    end: Last = None,
    as_of: AsOf = None,
    form: Format = "json",
) -> Answer:
    """Splits, stock and cash dividends, renames, and mergers in shares, as the provider names them.

    From the open of `exDate` on, prices are those after the action. Omits unknown tickers;
    `X-Missing-Count` counts them and `X-Missing-Symbols` names them.

    With `as_of` the answer has the actions as the service knew them then, from its first reading of each
    stock on. `knownAt` is when it first read an action in that form.
    """
    services = view_as_of(services, as_of)
    names = named_symbols(symbols, MAX_BATCH)
    mirror = require_mirror(services, Feed.STOCKS)
    known = mirror.keys_named(names)
    today = services.moment().date()
    last = None if end is None else _bound("end", end)
    first = (last or today) - DEFAULT_DAYS if start is None else _bound("start", start)
    if last is not None and first > last:
        raise InvalidValue("start", "Must not be after end")
    if services.reach is not None:
        first = max(first, datetime.fromtimestamp(services.reach.start(services.now()), UTC).date())
    stocks = [*dict.fromkeys(filter(None, known.values()))]
    if services.as_of is None:
        read = await asyncio.gather(*map(take_turns(partial(read_actions, services)), stocks))
        found = [each for _, rows in read for each in rows]
        cache = cached_for(min((cached.fresh_seconds for cached, _ in read), default=0))
        status = cache_status({cached.status for cached, _ in read})
        age = max((cached.age_seconds for cached, _ in read), default=0)
        notes = [(b"x-cache", status.encode()), (b"age", b"%d" % age)]
    else:
        found = await actions_known_at(services, stocks, datetime.fromtimestamp(services.as_of, UTC))
        cache, notes = cached_for(MAX_AGE), []
    listed = [each for each in found if first <= each.ex_day and (last is None or each.ex_day <= last)]
    listed.sort(key=lambda each: (each.ex_day, each.symbol, each.id))
    answer = document_answer(
        SharedBody(encode_json(listed)),
        cache,
        *notes,
        *missing_headers([name for name, key in known.items() if key is None]),
        *renamed_headers(mirror, known.items()),
    )
    return formatted(answer, form, _TABLE)


async def adjusted_bars(
    services: Services, symbol: str, wanted: StockQuery, answer: Answer, adjusted: Adjusted
) -> Answer:
    """Returns an answer with the bars of a stock, adjusted for others than splits.

    Raises InvalidValue for bars of weeks and months, and as `read_actions` does.
    """
    market = market_of(services, Feed.STOCKS, symbol)
    if wanted.query_for(market.calendar, market.moment).interval in {"W", "M"}:
        raise InvalidValue("adjustment", "Must be splits for bars of weeks and months")
    bars = _decode(answer.body)
    if not bars:
        return answer
    first, today = min(_date(bars[0]), _date(bars[-1])), today_of(market)
    closes: Closes | QuotecastError = {}
    if adjusted == "all":
        closes = (await read_closes(services, {name_of(market): market}, first, today))[name_of(market)]
    if isinstance(closes, QuotecastError):
        raise closes
    adjustment = await adjustment_of(services, market, closes, adjusted)
    # Raw volumes are in the shares of their own day.
    convert = partial(_adjusted, bars, adjustment, by_volume=adjusted == "raw")
    return await asyncio.to_thread(answer.converted, lambda _: encode_json(convert()), JSON)


def _bound(field: str, text: str) -> date:
    day = day_of(field, text)
    if day < EARLIEST:
        raise InvalidValue(field, f"Must be from {EARLIEST} on")
    return day


def _date(bar: Bar) -> date:
    """Returns the date in New York of a stock's bar."""
    return datetime.fromisoformat(bar.time).astimezone(NEW_YORK).date()


def _adjusted(bars: Sequence[Bar], adjustment: Adjustment, *, by_volume: bool) -> list[Bar]:
    found: list[Bar] = []
    for bar in bars:
        factor = adjustment.factor(_date(bar))
        prices = {name: times(getattr(bar, name), factor) for name in ("open", "high", "low", "close")}
        volume = times(bar.volume, 1 / factor) if by_volume else bar.volume
        found.append(replace(bar, **prices, volume=volume))
    return found
