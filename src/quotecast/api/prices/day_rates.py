"""Rates of past days, from daily closes."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal

from msgspec import Struct

from quotecast.api.bars.market import Market
from quotecast.api.market.services import Services
from quotecast.api.prices.closes import Closes, close_on, name_of, read_closes
from quotecast.api.prices.rates import rate_finder, rate_market
from quotecast.errors import QuotecastError
from quotecast.market.conversion import Rate, factor
from quotecast.market.worth_history import CARRIED


class DayRates(Struct, frozen=True):
    """The rates from several currencies into one, with their closes; None where they are unknown."""

    chains: Mapping[str, Sequence[tuple[Rate, Closes]] | None]

    def on(self, currency: str, day: date) -> Decimal | None:
        """Returns what one unit of a currency was worth on a day; None if that is unknown."""
        chain = self.chains.get(currency)
        if chain is None:
            return None
        known = [past for rate, closes in chain if (past := rate_on(rate, closes, day))]
        return factor(known) if len(known) == len(chain) else None


def rate_on(rate: Rate, closes: Closes, day: date) -> Rate | None:
    """Returns a rate on a day, by the close of its quote on that day or the last one before it."""
    closed = close_on(closes, day)
    return None if closed is None else rate.at_close(closes[closed], closed)


async def read_day_rates(
    services: Services, currencies: Iterable[str], target: str, first: date, last: date
) -> DayRates:
    """Returns the rates from some currencies to the target on the days from `first` to `last`."""
    find = rate_finder(services.mirrors)
    paths: dict[str, list[tuple[Rate, Market]]] = {}
    for currency in currencies:
        with suppress(QuotecastError):
            path = [(rate, rate_market(services, rate)) for rate in find(currency, target) or ()]
            if path or currency == target:
                paths[currency] = path
    # Many currencies share few rates, and each is read once.
    markets = {name_of(market): market for path in paths.values() for _, market in path}
    closes = await read_closes(services, markets, first - CARRIED, last)
    chains: dict[str, Sequence[tuple[Rate, Closes]] | None] = {}
    for currency, path in paths.items():
        known = [(rate, closes[name_of(market)]) for rate, market in path]
        chain = [(rate, each) for rate, each in known if not isinstance(each, QuotecastError)]
        chains[currency] = chain if len(chain) == len(known) else None
    return DayRates(chains)
