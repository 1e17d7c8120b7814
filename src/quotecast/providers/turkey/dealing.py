"""What dealers in Türkiye ask for a currency, a metal or an index, from whichever source, as quotes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Context, Decimal
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.quotes import DovizQuote
from quotecast.providers.reference import DovizInstrument, doviz_instruments
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.judgement import Judge, is_near
from quotecast.providers.validation.values import timestamp_of, to_float

MARKET: Final = "Serbest Piyasa"
LIRA: Final = "TRY"
_HUNDRED: Final = Decimal(100)
#: Dealers ask a few percent more or less than the central bank; a confused unit is off by ten or a hundred.
FAR_FACTOR: Final = 2
#: Sources give percentages in hundredths; a previous close with fewer digits would contradict them.
_LEAST_DIGITS: Final = 6


class DealerRate(Struct, frozen=True):
    """What a source tells of one symbol, in `currency` for one unit; the change is against the day before."""

    symbol: str
    selling: Decimal
    buying: Decimal | None = None
    change_percent: Decimal | None = None
    #: In Turkish; the known name wins.
    name: str = ""


class RatesAnswer(Struct, frozen=True):
    """One response of a source; `made` is when the source says it was, None where it does not say."""

    rates: Sequence[DealerRate]
    made: datetime | None = None
    #: False for the whole rows of a response that was cut short.
    whole: bool = True


class Dealing:
    """The last rates of one market that could be believed, whoever told them.

    Refused, and counted by reason: a selling price more than ten times or less than a tenth of the last good
    one of the past hour (`absurd`), or more than twice or less than half of its reference (`far_off`).
    A buying price that is missing keeps its last good value. A quote's timestamp is when its numbers last
    changed: sources move their own clock while prices stand still. A first quote takes the source's own time,
    for its price may be hours old.
    """

    def __init__(self) -> None:
        self._judge = Judge()
        self._refused: dict[str, RefusalCounter] = {}
        self._references: Mapping[str, float] = {}
        self._rates: dict[str, DealerRate] = {}
        self._quotes: dict[str, DovizQuote] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many rates were refused since the start, by reason."""
        return sum((Counter(each.by_reason()) for each in self._refused.values()), Counter())

    def quotes(self) -> list[DovizQuote]:
        """The last good quote of every symbol."""
        return list(self._quotes.values())

    def judge_by(self, references: Mapping[str, float]) -> list[str]:
        """Judges selling prices by these references from now on, by symbol; others have none.

        Forgets the quotes that are far from theirs, and returns their symbols.
        """
        self._references = references
        removed = [quote.symbol for quote in self._quotes.values() if self._is_far(quote.symbol, quote.price)]
        for symbol in removed:
            del self._quotes[symbol], self._rates[symbol]
            self._judge.forget(symbol)
        return removed

    def take(
        self, rates: Iterable[DealerRate], provider: str, received: float, made: datetime | None = None
    ) -> list[DovizQuote]:
        """Returns the quotes that change with rates received at that Unix time, `made` at the source's."""
        first = made if made and made.timestamp() <= received else None
        refused = self._refused.setdefault(provider, RefusalCounter(provider))
        quotes = [self._changed_quote(rate, provider, received, first, refused) for rate in rates]
        return [quote for quote in quotes if quote]

    def _changed_quote(
        self,
        rate: DealerRate,
        provider: str,
        received: float,
        first: datetime | None,
        refused: RefusalCounter,
    ) -> DovizQuote | None:
        if self._is_far(rate.symbol, float(rate.selling)):
            refused.count("far_off")
            return None
        if reason := self._judge.doubt(rate.symbol, float(rate.selling), received):
            refused.count(reason)
            return None
        before = self._rates.get(rate.symbol)
        if before and rate.buying is None:
            rate = replace(rate, buying=before.buying)
        known = self._quotes.get(rate.symbol)
        if rate == before and known and known.provider == provider:
            return None
        self._rates[rate.symbol] = rate
        timestamp = timestamp_of(None if before else first, received)
        quote = self._quotes[rate.symbol] = _quote(rate, provider, timestamp)
        return quote

    def _is_far(self, symbol: str, price: float) -> bool:
        reference = self._references.get(symbol)
        return reference is not None and not is_near(price, reference, FAR_FACTOR)


def _quote(rate: DealerRate, provider: str, timestamp: str) -> DovizQuote:
    instrument = instruments().get(rate.symbol) or _currency(rate)
    previous = _previous(rate)
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
        change=None if previous is None else float(rate.selling - previous),
        change_percent=None if previous is None else to_float(rate.change_percent),
        previous_close=to_float(previous),
        timestamp=timestamp,
    )


def _previous(rate: DealerRate) -> Decimal | None:
    """Returns the price of the day before, from the change in percent; None where that says nothing."""
    growth = 1 + rate.change_percent / _HUNDRED if rate.change_percent is not None else Decimal(0)
    if growth <= 0:
        return None
    digits = max(_LEAST_DIGITS, len(rate.selling.as_tuple().digits))
    return Context(prec=digits).divide(rate.selling, growth)


@cache
def instruments() -> Mapping[str, DovizInstrument]:
    """The known instruments by symbol."""
    return {instrument.symbol: instrument for instrument in doviz_instruments()}


def _currency(rate: DealerRate) -> DovizInstrument:
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
