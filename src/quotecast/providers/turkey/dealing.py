"""Quotes of currencies, metals and indices in Türkiye, from the rates of any source."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Context, Decimal
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.numbers import timestamp_of, to_float
from quotecast.market.quotes import DovizQuote
from quotecast.market.reference import DovizInstrument, doviz_instruments
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.judgement import ABSURD_FACTOR, Judge, is_near

MARKET: Final = "Serbest Piyasa"
LIRA: Final = "TRY"
_HUNDRED: Final = Decimal(100)
#: Dealers differ from the central bank by a few percent; a wrong unit by a factor of ten or a hundred.
FAR_FACTOR: Final = 2
#: Currencies whose rate sources give for a hundred units or for one, as the central bank's is for a hundred.
UNSURE: Final = frozenset({"JPY"})
#: Sources give percentages in hundredths; a previous close with fewer digits would contradict them.
_LEAST_DIGITS: Final = 6


class DealerRate(Struct, frozen=True):
    """A source's prices of one symbol, for one unit in its currency; the change is against the day before."""

    symbol: str
    selling: Decimal
    buying: Decimal | None = None
    change_percent: Decimal | None = None
    #: In Turkish; only for symbols without a name in our table.
    name: str = ""


class RatesAnswer(Struct, frozen=True):
    """One response of a source; `made` is its own time of the rates, None where it names none."""

    rates: Sequence[DealerRate]
    made: datetime | None = None
    #: False for a response that ends in the middle; `rates` are its whole rows.
    whole: bool = True


class Dealing:
    """The last believable rates of one market, from any of its sources.

    It refuses, and counts by source and reason, a selling price more than ten times or less than a tenth of
    the last good one of the past hour (`absurd`), or more than twice or less than half of its reference
    (`far_off`). The first rate of a currency in UNSURE waits for its reference (`unjudged`). It refuses a
    buying price above the selling price or below a tenth of it, and a change by more than a factor of ten
    (`absurd_field`). A buying price that is missing or refused keeps its last good value, a refused change is
    null. A quote's timestamp is the time of the last change of its numbers: sources advance their own time
    without a new price. A first quote has the source's own time, because its price may be hours old.
    """

    def __init__(self) -> None:
        self._judge = Judge()
        self._refused: dict[str, RefusalCounter] = {}
        self._references: Mapping[str, float] = {}
        self._rates: dict[str, DealerRate] = {}
        self._quotes: dict[str, DovizQuote] = {}

    def statistics(self) -> Mapping[str, int]:
        """Returns how many rates it refused since the start, by reason."""
        return sum((Counter(each.by_reason()) for each in self._refused.values()), Counter())

    def quotes(self) -> list[DovizQuote]:
        """Returns the last good quote of every symbol."""
        return list(self._quotes.values())

    def judge_by(self, references: Mapping[str, float]) -> list[str]:
        """Judges selling prices by these references, by symbol, from now on.

        Forgets the quotes that are far from their reference, and returns their symbols.
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
        """Returns the quotes that change with rates; `received` is a Unix time, `made` the source's time."""
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
        known = self._quotes.get(rate.symbol)
        if rate.symbol in UNSURE and known is None and rate.symbol not in self._references:
            refused.count("unjudged")
            return None
        if reason := self._judge.doubt(rate.symbol, float(rate.selling), received):
            refused.count(reason)
            return None
        before = self._rates.get(rate.symbol)
        rate = _with_believable_fields(rate, before, refused)
        if rate == before and known and known.provider == provider:
            return None
        self._rates[rate.symbol] = rate
        timestamp = timestamp_of(None if before else first, received)
        quote = self._quotes[rate.symbol] = _quote(rate, provider, timestamp)
        return quote

    def _is_far(self, symbol: str, price: float) -> bool:
        reference = self._references.get(symbol)
        return reference is not None and not is_near(price, reference, FAR_FACTOR)


def is_believable_buying(buying: Decimal, selling: Decimal) -> bool:
    """Returns whether a buying price is at most the selling price, and at least a tenth of it."""
    return selling / ABSURD_FACTOR <= buying <= selling


def _with_believable_fields(
    rate: DealerRate, before: DealerRate | None, refused: RefusalCounter
) -> DealerRate:
    """Returns the rate with the last good buying price in place of a missing or refused one."""
    buying, percent = rate.buying, rate.change_percent
    if buying is not None and not is_believable_buying(buying, rate.selling):
        refused.count("absurd_field")
        buying = None
    if buying is None and before and before.buying and is_believable_buying(before.buying, rate.selling):
        buying = before.buying
    if percent is not None and not is_near(1 + float(percent) / 100, 1):
        refused.count("absurd_field")
        percent = None
    return replace(rate, buying=buying, change_percent=percent)


def _quote(rate: DealerRate, provider: str, timestamp: str) -> DovizQuote:
    # Our table lacks some currencies.
    instrument = instruments().get(rate.symbol) or DovizInstrument(
        symbol=rate.symbol,
        name=rate.name or rate.symbol,
        category="currency",
        source=MARKET,
        unit=f"1 {rate.symbol}",
        currency=LIRA,
        price=float(rate.selling),
        spread_percent=0.0,
    )
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
    """Returns the price of the day before, from the change in percent; None without a possible change."""
    growth = 1 + rate.change_percent / _HUNDRED if rate.change_percent is not None else Decimal(0)
    if growth <= 0:
        return None
    digits = max(_LEAST_DIGITS, len(rate.selling.as_tuple().digits))
    return Context(prec=digits).divide(rate.selling, growth)


@cache
def instruments() -> Mapping[str, DovizInstrument]:
    """Returns the instruments of our table by symbol."""
    return {instrument.symbol: instrument for instrument in doviz_instruments()}
