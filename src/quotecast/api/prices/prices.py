"""Prices in any currency, of now or of a day: quotes and closes times the rates of the same day."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Literal

from msgspec import Struct, field

from quotecast.api.market.services import MarketServices
from quotecast.api.prices.actions import Adjusted
from quotecast.api.prices.instruments import Instrument
from quotecast.api.prices.rates import (
    RATE_FEEDS,
    RateFinder,
    RateShown,
    convert,
    rate_finder,
    rate_shown,
    venue_date,
)
from quotecast.errors import InvalidValue, QuotecastError, UpstreamError
from quotecast.market.conversion import Rate
from quotecast.market.feeds import Feed, Kind
from quotecast.market.quotes import StockQuote

#: How the price came about: from the quote of now, or from the close of a day.
Status = Literal["live", "delayed", "stale", "close"]


class Price(Struct, frozen=True, kw_only=True, rename="camel"):
    """The price of one `unit` in `currency`; without a price, `problem` has the reason.

    `date` is that of the price at its venue, `dateAsked` that of the request. `rates` converted the quoted
    price; they are of the same day, or of the last day before on which they were quoted.
    """

    symbol: str
    type: Kind
    name: str
    unit: str
    price: float | None = None
    currency: str
    day: date | None = field(default=None, name="date")
    day_asked: date | None = field(default=None, name="dateAsked")
    timestamp: str | None = None
    status: Status
    delay_seconds: float | None = None
    quoted_price: float | None = None
    quoted_currency: str
    rates: list[RateShown] = []
    provider: str
    adjusted: Adjusted = "splits"
    problem: str | None = None


def prices_now(
    services: MarketServices, instruments: Iterable[Instrument], currency: str | None
) -> Iterator[Price | InvalidValue]:
    """Yields the current price of each instrument, or why there is none."""
    find = rate_finder(services.mirrors, services.only)
    # Most instruments share the rates of one currency.
    shown = dict[str, list[RateShown]]()
    for instrument in instruments:
        quoted = instrument.currency
        try:
            rates = rates_for(find, quoted, currency)
        except InvalidValue as error:
            yield error
            continue
        if quoted not in shown:
            shown[quoted] = [*map(rate_shown, rates)]
        yield _price_now(services, instrument, currency or quoted, rates, shown[quoted])


def unpriced(
    services: MarketServices,
    instrument: Instrument,
    currency: str | None,
    day: date | None,
    error: QuotecastError,
) -> Price:
    """Returns the entry of an instrument whose price is not known, and why."""
    return Price(
        symbol=instrument.symbol,
        type=instrument.feed.spec.kind,
        name=instrument.quote.name,
        unit=instrument.unit,
        currency=currency or instrument.currency,
        day_asked=day,
        status="live" if day is None else "close",
        quoted_currency=instrument.currency,
        provider=provider_of(services, instrument),
        # What exactly failed at the upstream is for the log.
        problem="Upstream unavailable" if isinstance(error, UpstreamError) else str(error),
    )


def rates_for(find: RateFinder, quoted: str, currency: str | None, field: str = "currency") -> Sequence[Rate]:
    """Returns the rates from the currency of a quote; none without a currency.

    Raises InvalidValue, which names `field`, if no quotes give a rate.
    """
    rates = find(quoted, currency) if currency else ()
    if rates is None:
        raise InvalidValue(field, f"No rate from {quoted} to {currency}")
    return rates


def provider_of(services: MarketServices, instrument: Instrument) -> str:
    """Returns the provider of an instrument's quote."""
    quote, info = instrument.quote, services.mirrors[instrument.feed].info
    if not isinstance(quote, StockQuote):
        return quote.provider
    return info.provider if info else ""


def _price_now(
    services: MarketServices,
    instrument: Instrument,
    currency: str,
    rates: Sequence[Rate],
    shown: list[RateShown],
) -> Price:
    quote, info = instrument.quote, services.mirrors[instrument.feed].info
    delay = info.delay_seconds if info else 0.0
    quoted = instrument.price_at(quote.price)
    return Price(
        symbol=instrument.symbol,
        type=instrument.feed.spec.kind,
        name=quote.name,
        unit=instrument.unit,
        price=convert(quoted, rates),
        currency=currency,
        day=venue_date(instrument.feed, quote.timestamp),
        timestamp=quote.timestamp,
        status=_status(services, {instrument.feed, *(RATE_FEEDS if rates else ())}, delay),
        delay_seconds=delay,
        quoted_price=quoted,
        quoted_currency=instrument.currency,
        rates=shown,
        provider=provider_of(services, instrument),
    )


def _status(services: MarketServices, feeds: Iterable[Feed], delay: float) -> Status:
    now = services.monotonic()
    # A feed without data gave no rate.
    if any(services.mirrors[feed].state(now) == "stale" for feed in feeds):
        return "stale"
    return "delayed" if delay else "live"
