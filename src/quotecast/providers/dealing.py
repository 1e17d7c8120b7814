"""What dealers in Türkiye ask for a currency, a metal or an index, from whichever source, as quotes."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.quotes import DovizQuote
from quotecast.providers.judgement import Judge
from quotecast.providers.reference import DovizInstrument, doviz_instruments
from quotecast.providers.values import stamped

MARKET: Final = "Serbest Piyasa"
LIRA: Final = "TRY"
_HUNDRED: Final = Decimal(100)
_MOST_DIGITS: Final = 8


class Rate(Struct, frozen=True):
    """What a source tells of one symbol, in `currency` for one unit; the change is against the day before."""

    symbol: str
    selling: Decimal
    buying: Decimal | None = None
    change_percent: Decimal | None = None
    #: In Turkish; the known name wins.
    name: str = ""


class Dealing:
    """The last rates of one market that could be believed, whoever told them.

    Refused, and counted by reason: a selling price more than ten times or less than a tenth of the last good
    one of the past hour (`absurd`). A buying price that is missing keeps its last good value. A quote's
    timestamp is when its numbers last changed: sources move their own clock while prices stand still.
    """

    def __init__(self) -> None:
        self._judge = Judge()
        self._rates: dict[str, Rate] = {}
        self._quotes: dict[str, DovizQuote] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many rates were refused since the start, by reason."""
        return dict(self._judge.refused)

    def quotes(self) -> list[DovizQuote]:
        """The last good quote of every symbol."""
        return list(self._quotes.values())

    def take(self, rates: Iterable[Rate], provider: str, received: float) -> list[DovizQuote]:
        """The quotes that change with rates received at that Unix time."""
        quotes = [self._changed(rate, provider, received) for rate in rates]
        return [quote for quote in quotes if quote]

    def _changed(self, rate: Rate, provider: str, received: float) -> DovizQuote | None:
        if not self._judge.accepts(rate.symbol, float(rate.selling), received):
            return None
        before = self._rates.get(rate.symbol)
        if before and rate.buying is None:
            rate = replace(rate, buying=before.buying)
        known = self._quotes.get(rate.symbol)
        if rate == before and known and known.provider == provider:
            return None
        self._rates[rate.symbol] = rate
        quote = self._quotes[rate.symbol] = _quote(rate, provider, received)
        return quote


def _quote(rate: Rate, provider: str, received: float) -> DovizQuote:
    instrument = instruments().get(rate.symbol) or _currency(rate)
    change, previous = _change(rate)
    buying = rate.selling if rate.buying is None else rate.buying
    return DovizQuote(
        provider=provider,
        symbol=rate.symbol,
        name=instrument.name,
        category=instrument.category,
        source=instrument.source,
        unit=instrument.unit,
        currency=instrument.currency,
        buying=float(buying),
        selling=float(rate.selling),
        price=float(rate.selling),
        change=float(change),
        change_percent=float(rate.change_percent or 0),
        previous_close=float(previous),
        timestamp=stamped(None, received),
    )


def _change(rate: Rate) -> tuple[Decimal, Decimal]:
    """The change and the price before it; the change is told in percent alone."""
    percent = rate.change_percent or Decimal(0)
    if percent <= -_HUNDRED:
        return Decimal(0), rate.selling
    # As many digits as the price has: more would be invented.
    digits = min(max(0, -int(rate.selling.as_tuple().exponent)), _MOST_DIGITS)
    previous = round(rate.selling / (1 + percent / _HUNDRED), digits)
    return rate.selling - previous, previous


@cache
def instruments() -> Mapping[str, DovizInstrument]:
    """The known instruments by symbol."""
    return {instrument.symbol: instrument for instrument in doviz_instruments()}


def _currency(rate: Rate) -> DovizInstrument:
    """A currency that is not in our table."""
    return DovizInstrument(
        symbol=rate.symbol,
        name=rate.name or rate.symbol,
        category="currency",
        source=MARKET,
        unit=f"1 {rate.symbol}",
        currency=LIRA,
        price=float(rate.selling),
        spread_percent=0.0,
    )
