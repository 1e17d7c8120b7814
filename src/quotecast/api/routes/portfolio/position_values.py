"""What positions are worth now, and exact amounts as JSON."""

from fractions import Fraction

from msgspec import Raw, Struct

from quotecast.api.market.lookup import Mirrors, first_with
from quotecast.api.prices.rates import RateFinder, convert
from quotecast.market import money
from quotecast.market.feeds import Kind
from quotecast.market.quotes import Quote
from quotecast.portfolio.ledger import Position, to_decimal


class QuotedPosition(Struct, frozen=True):
    """A position's quote, and its price and value in the currency of the position; None where unknown."""

    kind: Kind | None
    quote: Quote | None
    price: float | None
    value: Fraction | None


def quoted_position(position: Position, mirrors: Mirrors, find: RateFinder) -> QuotedPosition:
    """Returns what a position is worth now."""
    feed, entry = first_with(mirrors, position.ticker) or (None, None)
    quote = entry.quote if entry else None
    rates = find(feed.spec.currency(quote), position.currency) if feed and quote else None
    price = None if quote is None or rates is None else convert(quote.price, rates)
    value = None if price is None else position.shares * Fraction(repr(price))
    return QuotedPosition(feed.spec.kind if feed else None, quote, price, value)


def fraction_json(number: Fraction | None) -> Raw:
    """Returns the number as JSON, rounded to 8 decimals; None as null."""
    return money.amount_json(None if number is None else to_decimal(number))
