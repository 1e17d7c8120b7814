"""Rates between currencies: of now, from the quotes of a view, and of a day, from daily closes."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct, field

from quotecast.api.bars.market import Market, market_of
from quotecast.api.market.names import Mirrors
from quotecast.api.market.services import MarketServices, Services
from quotecast.errors import InvalidValue
from quotecast.feed.mirror import Mirror
from quotecast.market.conversion import Rate, Rates, factor, rates_between, rates_of, times
from quotecast.market.currencies import CURRENCIES, major_of
from quotecast.market.feeds import Feed
from quotecast.market.metals import METALS
from quotecast.market.quotes import CryptoQuote, Quote

#: The feeds whose quotes give the rates between currencies.
RATE_FEEDS: Final = (Feed.DOVIZ, Feed.CRYPTO)

#: Returns the chain of rates from one currency to another; None if there is none.
RateFinder = Callable[[str, str], Sequence[Rate] | None]


class RateShown(Struct, frozen=True, kw_only=True, rename={"source": "from", "target": "to"}):
    """The price of one unit of `from` in `to`, by the quote or the close of `symbol`."""

    source: str
    target: str
    rate: float
    symbol: str
    timestamp: str | None
    day: date | None = field(name="date")
    provider: str


def rate_finder(mirrors: Mirrors, only: Sequence[str] = ()) -> RateFinder:
    """Returns a function that finds the rates between two currencies, and caches them.

    `only` names the symbols whose quotes may give rates; empty for all.
    """
    given: list[Rates] = []
    for mirror in (mirrors[feed] for feed in RATE_FEEDS):
        if only:
            allowed = mirror.scope_of(only)
            given.append(rates_of(quote for key, quote in mirror.quotes().items() if key in allowed))
        else:
            given.append(mirror.derive(_all_rates))

    @cache
    def rates(source: str, target: str) -> Sequence[Rate] | None:
        return rates_between(given, source, target)

    return rates


def _all_rates(mirror: Mirror) -> Rates:
    return rates_of(mirror.quotes().values())


def currency_of(services: MarketServices, field: str, text: str) -> str:
    """Returns the code of a currency, a metal or a coin, in any letter case.

    Raises InvalidValue, also for a minor unit.
    """
    unit = text.strip()
    if major := major_of(unit):
        raise InvalidValue(field, f"{unit} is a minor unit: ask for {major}")
    code = unit.upper()
    mirrors = (services.mirrors[feed] for feed in RATE_FEEDS)
    if code in CURRENCIES or code in METALS or any(code in each.derive(_all_rates).exits for each in mirrors):
        return code
    raise InvalidValue(
        field, "Must be a code of ISO 4217, such as EUR or XAU, or a coin that the crypto feed trades"
    )


def convert(amount: float, rates: Sequence[Rate]) -> float:
    """Returns the amount converted by the rates; unchanged without rates."""
    return times(amount, factor(rates)) if rates else amount


def rate_shown(rate: Rate) -> RateShown:
    """Returns the rate as the API answers it."""
    quote = rate.quote
    return RateShown(
        source=rate.base,
        target=rate.target,
        rate=float(rate.rate),
        symbol=quote.key,
        timestamp=quote.timestamp,
        day=rate.day or venue_date(feed_of(quote), quote.timestamp),
        provider=quote.provider,
    )


def venue_date(feed: Feed, timestamp: str | None) -> date | None:
    """Returns the date of a quote at its venue; None without a timestamp."""
    return _date_in_minute(feed, timestamp[:16]) if timestamp else None


# The quotes of a feed share a few minutes.
@lru_cache(maxsize=4096)
def _date_in_minute(feed: Feed, minute: str) -> date:
    return next(feed.spec.always_open.until(datetime.fromisoformat(f"{minute}Z"))).date


def feed_of(quote: Quote) -> Feed:
    """Returns the feed of a rate's quote."""
    return Feed.CRYPTO if isinstance(quote, CryptoQuote) else Feed.DOVIZ


def rate_market(services: Services, rate: Rate) -> Market:
    """Returns the market of a rate's quote. Raises SymbolNotFound if it went."""
    return market_of(services, feed_of(rate.quote), rate.quote.key)
