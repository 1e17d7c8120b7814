"""Prices of past days: closes times the closes of the rates."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct, field
from msgspec.structs import replace

from quotecast.api.bars.market import Market, market_of, provider_of
from quotecast.api.bars.reading import WITHOUT_BARS
from quotecast.api.market.services import Services
from quotecast.api.prices.actions import Adjusted, adjustment_of
from quotecast.api.prices.closes import (
    Closes,
    Name,
    close_on,
    first_close_since,
    name_of,
    rate_on,
    read_closes,
    today_of,
)
from quotecast.api.prices.instruments import Instrument
from quotecast.api.prices.prices import Price, prices_now, rates_for
from quotecast.api.prices.rates import convert, rate_finder, rate_market, rate_shown
from quotecast.errors import InvalidValue, NoData, NotOffered, ProviderMissing, QuotecastError, UpstreamError
from quotecast.market.actions import Adjustment
from quotecast.market.conversion import Rate, factor, round_amount, times
from quotecast.market.feeds import Kind
from quotecast.market.worth_history import CARRIED
from quotecast.providers.offer import Terms
from quotecast.providers.offers import terms_of


class DayPrice(Struct, frozen=True, kw_only=True, rename="camel"):
    """The price of a day: the close times `rate`, whose oldest close is of `rateDate`."""

    day: date = field(name="date")
    price: float | None
    quoted_price: float
    rate: float | None
    rate_date: date | None


class PathStep(Struct, frozen=True, kw_only=True, rename={"source": "from", "target": "to"}):
    """One of the rates that convert prices: that of `from` in `to`, by the closes of `symbol`."""

    source: str
    target: str
    symbol: str
    provider: str


class PriceHistory(Struct, frozen=True, kw_only=True, rename="camel"):
    """Prices in one currency, ascending by date; the last one may be of a day in progress.

    `rate` is the product of the rates of `path`. Without one, `price` is null.
    """

    symbol: str
    type: Kind
    name: str
    unit: str
    currency: str
    quoted_currency: str
    path: list[PathStep]
    provider: str
    terms: Terms | None = None
    adjusted: Adjusted = "splits"
    prices: list[DayPrice]


class Wanted(Struct, frozen=True):
    """The days and the currency of prices, and what they are adjusted for."""

    currency: str | None
    first: date
    last: date
    adjusted: Adjusted


class _Series(Struct, frozen=True):
    """An instrument with its closes, and the rates that convert them with theirs."""

    instrument: Instrument
    closes: Closes
    rates: Sequence[tuple[Rate, Closes]]
    adjustment: Adjustment

    def on(self, day: date) -> tuple[float, Sequence[Rate] | None]:
        """Returns the quoted price of a day that has a close, and the rates; None if one is missing."""
        rates = [rate_on(rate, closes, day) for rate, closes in self.rates]
        known = [rate for rate in rates if rate is not None]
        quoted = self.instrument.price_at(times(self.closes[day], self.adjustment.factor(day)))
        return quoted, known if len(known) == len(rates) else None


async def prices_on(
    services: Services, instruments: Sequence[Instrument], wanted: Wanted
) -> list[Price | QuotecastError]:
    """Returns each instrument's price on the last day, or else on its last trading day before; or why not.

    The price of today is the current one.
    """
    day = wanted.last
    found: list[Price | QuotecastError] = [*prices_now(services, instruments, wanted.currency)]
    markets = [market_of(services, each.feed, each.quote.key) for each in instruments]
    # The service keeps closes of the past only.
    past = [
        place for place, market in enumerate(markets) if services.as_of is not None or day < today_of(market)
    ]
    series = await _read(services, [instruments[place] for place in past], wanted)
    for place, each in zip(past, series, strict=True):
        price = found[place]
        if isinstance(price, Price) and isinstance(each, _Series):
            found[place] = await _price_on(services, price, each, markets[place], day)
        elif isinstance(each, QuotecastError):
            found[place] = each
    return [
        replace(each, day_asked=day, adjusted=wanted.adjusted) if isinstance(each, Price) else each
        for each in found
    ]


async def price_history(services: Services, instrument: Instrument, wanted: Wanted) -> PriceHistory:
    """Returns the prices of the days.

    Raises InvalidValue for a currency without a rate, PastOutOfPlan, and the upstream's error.
    """
    (series,) = await _read(services, [instrument], wanted)
    if isinstance(series, QuotecastError):
        raise series
    provider = provider_of(instrument.quote, services.mirrors[instrument.feed].info)
    # In a thread: 5,000 days with two rates take a tenth of a second.
    days = await asyncio.to_thread(lambda: [*_day_prices(series, wanted.first, wanted.last)])
    return PriceHistory(
        symbol=instrument.symbol,
        type=instrument.feed.spec.kind,
        name=instrument.quote.name,
        unit=instrument.unit,
        currency=wanted.currency or instrument.currency,
        quoted_currency=instrument.currency,
        path=[
            PathStep(
                source=rate.base, target=rate.target, symbol=rate.quote.key, provider=rate.quote.provider
            )
            for rate, _ in series.rates
        ],
        provider=provider,
        terms=terms_of(provider),
        adjusted=wanted.adjusted,
        prices=days,
    )


async def rates_on(services: Services, source: str, target: str, day: date | None) -> Sequence[Rate]:
    """Returns the rates from one currency to another: those of a day, None for those of now.

    Raises InvalidValue if there are none.
    """
    rates = rates_for(rate_finder(services.mirrors, services.only), source, target, field="to")
    if day is None or not rates:
        return rates
    markets = [rate_market(services, rate) for rate in rates]
    if services.as_of is None and all(day >= today_of(each) for each in markets):
        return rates
    found = await read_closes(services, {name_of(each): each for each in markets}, day - CARRIED, day)
    past: list[Rate] = []
    for rate, market in zip(rates, markets, strict=True):
        closes = found[name_of(market)]
        if isinstance(closes, QuotecastError):
            raise closes
        on_day = rate_on(rate, closes, day)
        if on_day is None:
            raise await _no_close(services, market, day)
        past.append(on_day)
    return past


async def _price_on(
    services: Services, price: Price, series: _Series, market: Market, day: date
) -> Price | InvalidValue:
    closed = close_on(series.closes, day)
    if closed is None:
        return await _no_close(services, market, day)
    quoted, rates = series.on(closed)
    if rates is None:
        return InvalidValue(
            "date", f"There is no rate from {price.quoted_currency} to {price.currency} on {closed}"
        )
    return replace(
        price,
        price=convert(quoted, rates),
        day=closed,
        timestamp=None,
        status="close",
        delay_seconds=None,
        quoted_price=quoted,
        rates=[*map(rate_shown, rates)],
    )


async def _no_close(services: Services, market: Market, day: date) -> InvalidValue:
    """Returns why a day has no price: the history begins later, or nothing was traded for days."""
    first = await first_close_since(services, market, day)
    begins = f"; closes begin on {first}" if first else ""
    return InvalidValue(
        "date", f"There is no close of {market.symbol} in the {CARRIED.days} days up to {day}{begins}"
    )


def _day_prices(series: _Series, first: date, last: date) -> Iterator[DayPrice]:
    for day in series.closes:
        if not first <= day <= last:
            continue
        quoted, rates = series.on(day)
        yield DayPrice(
            day=day,
            price=None if rates is None else convert(quoted, rates),
            quoted_price=quoted,
            rate=None if rates is None else float(round_amount(factor(rates))),
            rate_date=min((rate.day for rate in rates or () if rate.day), default=None),
        )


async def _read(
    services: Services, instruments: Sequence[Instrument], wanted: Wanted
) -> list[_Series | QuotecastError]:
    """Returns the closes of each instrument and of its rates, or why there are none."""
    find = rate_finder(services.mirrors, services.only)
    needed: list[tuple[Market, Sequence[tuple[Rate, Market]]] | QuotecastError] = []
    markets: dict[Name, Market] = {}
    for instrument in instruments:
        try:
            market = market_of(services, instrument.feed, instrument.quote.key)
            chain = rates_for(find, instrument.currency, wanted.currency)
            rates = [(rate, rate_market(services, rate)) for rate in chain]
        except (*WITHOUT_BARS, NoData, InvalidValue) as error:
            needed.append(error)
            continue
        needed.append((market, rates))
        markets |= {name_of(each): each for each in (market, *(each for _, each in rates))}
    last = wanted.last
    if wanted.adjusted == "all":
        # Later dividends change the price: they need the closes before them.
        last = max(map(today_of, markets.values()), default=last)
    # A weekend has the close or the rate of the days before.
    closes = await read_closes(services, markets, wanted.first - CARRIED, last)
    found: list[_Series | QuotecastError] = []
    for instrument, each in zip(instruments, needed, strict=True):
        if isinstance(each, QuotecastError):
            found.append(each)
        else:
            found.append(await _series(services, instrument, *each, closes, adjusted=wanted.adjusted))
    return found


async def _series(
    services: Services,
    instrument: Instrument,
    market: Market,
    rates: Sequence[tuple[Rate, Market]],
    closes: Mapping[Name, Closes | QuotecastError],
    *,
    adjusted: Adjusted,
) -> _Series | QuotecastError:
    found = [closes[name_of(each)] for each in (market, *(each for _, each in rates))]
    if failed := next((each for each in found if isinstance(each, QuotecastError)), None):
        return failed
    own, *others = (each for each in found if not isinstance(each, QuotecastError))
    try:
        adjustment = await adjustment_of(services, market, own, adjusted)
    except (ProviderMissing, NotOffered, UpstreamError, InvalidValue) as error:
        return error
    chain = [(rate, each) for (rate, _), each in zip(rates, others, strict=True)]
    return _Series(instrument, own, chain, adjustment)
