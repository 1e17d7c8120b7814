"""Prices in any currency, of now or of a day: quotes and closes times the rates of the same day."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Literal

from msgspec import Struct, field

from quotecast.api.bars.market import provider_of
from quotecast.api.market.services import MarketServices
from quotecast.api.prices.actions import Adjusted
from quotecast.api.prices.instruments import Instrument
from quotecast.api.prices.rates import RATE_FEEDS, RateFinder, RateShown, rate_finder, rate_shown, venue_date
from quotecast.errors import InvalidValue, QuotecastError, UpstreamError
from quotecast.market.conversion import Rate, factor, times
from quotecast.market.feeds import Feed, Kind
from quotecast.providers.offer import Allowed, Terms
from quotecast.providers.offers import terms_of

#: How the price came about: from the quote of now, or from the close of a day.
Status = Literal["live", "delayed", "stale", "close"]


class Price(Struct, frozen=True, kw_only=True, rename="camel"):
    """The price of one `unit` in `currency`; without a price, `problem` has the reason.

    `date` is that of the price at its venue, `dateAsked` that of the request. `rates` converted the quoted
    price; they are of the same day, or of the last day before on which they were quoted. `show`,
    `attribution` and `terms` are those of `provider`; a list of prices has no `terms`.
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
    show: Allowed | None = None
    attribution: str | None = None
    terms: Terms | None = None
    adjusted: Adjusted = "splits"
    problem: str | None = None


class _Shared(Struct, frozen=True):
    """The common part of the prices of one feed in one currency."""

    rates: Sequence[Rate]
    factor: Decimal
    shown: list[RateShown]
    status: Status
    delay: float


def prices_now(
    services: MarketServices, instruments: Iterable[Instrument], currency: str | None
) -> Iterator[Price | InvalidValue]:
    """Yields the current price of each instrument, or why there is none."""
    find = rate_finder(services.mirrors, services.only)
    found: dict[tuple[Feed, str], _Shared | InvalidValue] = {}
    for instrument in instruments:
        key = instrument.feed, instrument.currency
        shared = found.get(key)
        if shared is None:
            shared = found[key] = _shared(services, find, *key, currency)
        yield (
            shared if isinstance(shared, InvalidValue) else _price_now(services, instrument, currency, shared)
        )


def _shared(
    services: MarketServices, find: RateFinder, feed: Feed, quoted: str, currency: str | None
) -> _Shared | InvalidValue:
    try:
        rates = rates_for(find, quoted, currency)
    except InvalidValue as error:
        return error
    info = services.mirrors[feed].info
    delay = info.delay_seconds if info else 0.0
    now = services.monotonic()
    # A feed without data gave no rate.
    is_stale = any(
        services.mirrors[each].state(now) == "stale" for each in (feed, *(RATE_FEEDS if rates else ()))
    )
    status: Status = "stale" if is_stale else "delayed" if delay else "live"
    return _Shared(rates, factor(rates), [*map(rate_shown, rates)], status, delay)


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
        provider=provider_of(instrument.quote, services.mirrors[instrument.feed].info),
        # What exactly failed at the upstream is for the log.
        problem="Upstream unavailable" if isinstance(error, UpstreamError) else str(error),
    )


def rates_for(find: RateFinder, quoted: str, currency: str | None, field: str = "currency") -> Sequence[Rate]:
    """Returns the rates from the currency of a quote; none without a currency.

    Raises InvalidValue, which names `field`, if no quotes give a rate.
    """
    rates = find(quoted, currency) if currency else ()
    if rates is None:
        raise InvalidValue(field, f"There is no rate from {quoted} to {currency}")
    return rates


def _price_now(
    services: MarketServices, instrument: Instrument, currency: str | None, shared: _Shared
) -> Price:
    quote, quoted = instrument.quote, instrument.price_at(instrument.quote.price)
    provider = provider_of(instrument.quote, services.mirrors[instrument.feed].info)
    terms = terms_of(provider)
    return Price(
        symbol=instrument.symbol,
        type=instrument.feed.spec.kind,
        name=quote.name,
        unit=instrument.unit,
        price=times(quoted, shared.factor) if shared.rates else quoted,
        currency=currency or instrument.currency,
        day=venue_date(instrument.feed, quote.timestamp),
        timestamp=quote.timestamp,
        status=shared.status,
        delay_seconds=shared.delay,
        quoted_price=quoted,
        quoted_currency=instrument.currency,
        rates=shared.shown,
        provider=provider,
        show=terms.show if terms else None,
        attribution=terms.attribution if terms else None,
    )
