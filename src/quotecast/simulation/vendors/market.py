"""The simulated market as vendors sell it: prices, bars, sessions and scenarios of stocks and pairs."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import accumulate, groupby
from operator import mul
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.bars import Interval
from quotecast.market.calendars import Calendar
from quotecast.market.feeds import Feed
from quotecast.market.reference import Pair, Stock, pairs, stocks
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.actions import Dividend, dividends
from quotecast.simulation.market.companies import companies_of
from quotecast.simulation.market.cursor import Cursor, RestOfDayCursor, extent_between
from quotecast.simulation.market.history import candles
from quotecast.simulation.market.hours import Hours, midnight_of, new_york_date
from quotecast.simulation.market.reports import FIRST_DAY
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.special_days import exchange_days
from quotecast.simulation.market.tape import TapeSource
from quotecast.simulation.market.trades import PAUSE
from quotecast.simulation.market.venues import hours_of, pair_tapes, stock_tapes

DAY: Final = 86_400_000
#: The longest pause of the exchange, with a reserve.
_SEARCHED: Final = 10 * DAY
#: How far in the future the time of a bad tick is.
_FUTURE: Final = 3_600_000
#: Smallest size of a trade, in shares and in coins.
_SHARES: Final = 1.0
_COINS: Final = 0.01


class Price(Struct, frozen=True, gc=False):
    """An instrument at its newest trade; a stock's figures are of its session, a pair's of 24 hours.

    `time` is in Unix milliseconds. `number` grows with each trade. `size` and `volume` are in shares or
    coins.
    """

    symbol: str
    time: int
    number: int
    price: float
    size: float
    bid: float
    ask: float
    open: float
    high: float
    low: float
    #: A stock's previous close; a pair's price 24 hours ago.
    previous: float
    volume: float


class Candle(Struct, frozen=True, gc=False):
    """Trading between two moments (Unix milliseconds); `trades` is a count."""

    start: int
    end: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    trades: int


class Market:
    """Stocks by ticker (`AAPL`) and pairs by name (`BTC/USDT`), in the market of a seed.

    A pair in dollars has the prices of the same pair in USDT. `next_price` is for one reader: it remembers
    what it has returned. The server sets `present` from its clock; adjusted bars are in the shares of that
    moment.
    """

    def __init__(self, seed: int, schedule: Schedule | None = None, *, always_open: bool = True) -> None:
        self.seed = seed
        self.schedule = schedule or Schedule()
        self.stocks: Mapping[str, Stock] = {stock.ticker: stock for stock in stocks()}
        self.pairs: Mapping[str, Pair] = {pair.ticker: pair for pair in _with_dollars(pairs())}
        #: The latest moment so far, in Unix milliseconds.
        self.present = 0
        self._always_open = always_open
        hours = hours_of(Feed.STOCKS, always_open=always_open)
        by_ticker = stock_tapes(stocks(), seed, hours, self.schedule)
        by_pair = pair_tapes(pairs(), seed, hours_of(Feed.CRYPTO, always_open=True), self.schedule)
        dollars = {name: by_pair[f"{name}T"] for name in self.pairs if name.endswith("/USD")}
        #: The tape of each instrument.
        self.tapes: Mapping[str, TapeSource] = by_ticker | by_pair | dollars
        self._readers: dict[str, _Reader] = {}
        self._paid = lru_cache(maxsize=1024)(self._parts_left)

    @property
    def calendar(self) -> Calendar:
        """The trading days of the stock exchange, with the scenarios' special days."""
        return exchange_days(tuple(self.schedule.special_days()), always_open=self._always_open)

    def decimals(self, symbol: str) -> int:
        """Returns the number of decimals of an instrument's prices."""
        return len(str(self.tapes[symbol].listing.scale)) - 1

    def is_listed(self, symbol: str, moment: int) -> bool:
        """Returns whether the market has an instrument at a moment."""
        known = symbol in self.stocks or symbol in self.pairs
        return known and self.schedule.is_listed(symbol, moment)

    def price(self, symbol: str, moment: int) -> Price:
        """Returns an instrument's newest trade at a moment, or its first one before it is listed.

        Raises KeyError for an unknown one.
        """
        return self._reader(symbol).price(moment)

    def next_price(self, symbol: str, moment: int) -> Price | None:
        """Returns the newest trade, with its scenario's faults.

        Returns None if it is the one returned before, and for an instrument that is not listed.
        """
        if self.schedule.planned and not self.schedule.is_listed(symbol, moment):
            return None
        reader = self._reader(symbol)
        price = reader.price(moment)
        # Earlier than the one before: a scenario that has just begun undoes trades, such as a holiday.
        if price.number <= reader.returned:
            return None
        reader.returned = price.number
        return self._spoil(price, moment) if self.schedule.planned else price

    def bars(
        self, symbol: str, interval: Interval, start: int, end: int, *, adjusted: bool = True
    ) -> list[Candle]:
        """Returns the candles from the one at `start` to the one in progress at `end`, in ascending order.

        Those of stocks begin at multiples of their length in New York, those of pairs in UTC. Adjusted ones
        are in today's shares, others in the shares of their own time.
        """
        source = self.tapes[symbol]
        tape = source.at(max(self.present, end)) if adjusted else source.raw()
        scale, units = tape.listing.scale, tape.listing.volume_scale
        return [
            Candle(
                start=each.start,
                end=each.end,
                open=each.open / scale,
                high=each.high / scale,
                low=each.low / scale,
                close=each.close / scale,
                volume=each.volume / units,
                trades=max(1, (each.end - each.start) // 1000),
            )
            for each in candles(tape, interval, start, end)
        ]

    def dividends(self, symbol: str, first: date, last: date) -> list[Dividend]:
        """Returns a stock's dividends with ex-days from `first` to `last` that are declared now."""
        company = companies_of(self.seed).get(symbol)
        return [] if company is None else [*dividends(company, first, last, utc(self.present))]

    def dividend_factor(self, symbol: str, day: date) -> float:
        """Returns the part of a price of a day that the dividends since then have left."""
        ex_days, left = self._paid(symbol, new_york_date(self.present))
        return left[bisect_right(ex_days, day)]

    def _parts_left(self, symbol: str, today: date) -> tuple[Sequence[date], Sequence[float]]:
        """Returns the ex-days until today, and the part that each and the later ones leave; 1 after all."""
        paid = self.dividends(symbol, FIRST_DAY, today)
        parts = []
        for each in reversed(paid):
            midnight = midnight_of(each.ex_day.toordinal(), NEW_YORK)
            # The day before is in the shares of its own time, as the dividend is.
            before = self.bars(symbol, "D", midnight - _SEARCHED, midnight - 1, adjusted=False)[-1]
            parts.append(1 - each.amount / before.close)
        left = [*accumulate(parts, mul, initial=1.0)]
        return [each.ex_day for each in paid], left[::-1]

    def is_halted(self, symbol: str, moment: int) -> bool:
        """Returns whether an instrument is halted."""
        return self.schedule.is_halted(symbol, moment)

    def is_open(self, moment: int) -> bool:
        """Returns whether the stock exchange is open."""
        return moment < Hours(self.calendar, NEW_YORK).latest(moment).end

    def _reader(self, symbol: str) -> "_Reader":
        if symbol not in self._readers:
            self._readers[symbol] = _Reader(symbol, self.tapes[symbol], is_pair=symbol in self.pairs)
        return self._readers[symbol]

    def _spoil(self, price: Price, moment: int) -> Price:
        match self.schedule.spoil(moment, price.symbol, price.number):
            case "zero":
                return replace(price, price=0.0)
            case "hundredfold":
                return replace(price, price=price.price * 100)
            case "nan":
                return replace(price, price=float("nan"))
            case "crossed":
                return replace(price, bid=price.ask, ask=price.bid)
            case "future":
                return replace(price, time=price.time + _FUTURE)
            case None:
                return price


class _Reader:
    """Reads one instrument's newest trade: with figures of the session, or of 24 hours for a pair."""

    def __init__(self, symbol: str, tape: TapeSource, *, is_pair: bool) -> None:
        self._symbol = symbol
        self._scale = tape.listing.scale
        self._unit = tape.listing.volume_scale
        self._lot = _COINS if is_pair else _SHARES
        self._cursor = Cursor(tape)
        self._ago = RestOfDayCursor(tape) if is_pair else None
        #: The number of the trade that `next_price` returned last.
        self.returned = -1

    def price(self, moment: int) -> Price:
        cursor, ago, scale = self._cursor, self._ago, self._scale
        cursor.seek(moment)
        if ago is None:
            high, low, volume = cursor.high, cursor.low, cursor.volume
            opened, previous = cursor.open, cursor.previous_close
        else:
            ago.seek(moment - DAY)
            high, low, volume = extent_between(ago, cursor, moment)
            opened = previous = ago.price
        number = cursor.time // PAUSE
        return Price(
            symbol=self._symbol,
            time=cursor.time,
            number=number,
            price=cursor.price / scale,
            # One to nine lots, from the trade's number.
            size=((number * 2_654_435_761 >> 16) % 9 + 1) * self._lot,
            # A bid below the smallest price would be zero.
            bid=max(cursor.price - 1, 1) / scale,
            ask=(cursor.price + 1) / scale,
            open=opened / scale,
            high=high / scale,
            low=low / scale,
            previous=previous / scale,
            volume=volume / self._unit,
        )


def merge(candles: Iterable[Candle], opening: Callable[[int], int]) -> list[Candle]:
    """Returns longer candles of ascending ones; `opening` returns when the one at a moment begins."""
    merged = []
    for start, group in groupby(candles, lambda each: opening(each.start)):
        parts = [*group]
        whole = replace(
            parts[0],
            start=start,
            end=parts[-1].end,
            high=max(each.high for each in parts),
            low=min(each.low for each in parts),
            close=parts[-1].close,
            volume=sum(each.volume for each in parts),
            trades=sum(each.trades for each in parts),
        )
        merged.append(whole)
    return merged


def _with_dollars(listed: Sequence[Pair]) -> Iterator[Pair]:
    for pair in listed:
        yield pair
        if pair.quote == "USDT":
            yield replace(pair, quote="USD")


def utc(moment: int) -> datetime:
    """Returns Unix milliseconds as an aware moment."""
    return datetime.fromtimestamp(moment / 1000, UTC)
