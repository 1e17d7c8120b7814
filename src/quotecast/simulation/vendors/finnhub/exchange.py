"""The exchange as Finnhub shows it: symbols, listings, candles, sessions and news of the simulated market.

A stock's symbol is its ticker, a pair's names the exchange, such as `BINANCE:BTCUSDT`.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final

from quotecast.market.bars import Interval
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.market.news import SimulatorNews
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.finnhub.errors import NoAccess, WrongParameters
from quotecast.simulation.vendors.finnhub.parameters import day_of, number_of, text_of
from quotecast.simulation.vendors.finnhub.rows import (
    candles_answer,
    found_row,
    news_row,
    pair_row,
    symbol_row,
)
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Market

#: The exchanges of pairs and of stocks.
_PAIRS_EXCHANGE: Final = "BINANCE"
_EXCHANGE: Final = "US"
_RESOLUTIONS: Final[Mapping[str, Interval]] = {
    "1": "1m",
    "5": "5m",
    "15": "15m",
    "30": "30m",
    "60": "1h",
    "D": "D",
    "W": "W",
    "M": "M",
}
#: Most days of candles in an answer, by whether they are shorter than a day.
_INTRADAY_DAYS: Final = 31
_DAYS: Final = 40 * 366
_DAY_SECONDS: Final = 86_400
_MOST_FOUND: Final = 100
_MOST_NEWS: Final = 250
_CATEGORIES: Final = frozenset({"general", "forex", "crypto", "merger"})

Query = Mapping[str, str]


class Symbols:
    """The market's instruments by Finnhub's symbols."""

    def __init__(self, market: Market) -> None:
        self._market = market
        #: Pairs by their symbols here; those in dollars have other names on that exchange.
        self.pairs: Mapping[str, str] = {
            f"{_PAIRS_EXCHANGE}:{pair.base}{pair.quote}": name
            for name, pair in market.pairs.items()
            if pair.quote != "USD"
        }

        self._by_name = {name: symbol for symbol, name in self.pairs.items()}

    def symbol_of(self, name: str) -> str:
        """Returns the symbol of an instrument of the market."""
        return self._by_name.get(name, name)

    def find(self, symbol: str, moment: int) -> str | None:
        """Returns the market's name of a symbol; None for one that is not listed at that moment."""
        name = self.pairs.get(symbol, symbol)
        known = name in self._market.stocks or symbol in self.pairs
        return name if known and self._market.is_listed(name, moment) else None


class Exchange:
    """Answers paths that are not of a company's figures."""

    def __init__(self, market: Market, clock: MarketClock) -> None:
        self._market = market
        self._clock = clock
        self._symbols = Symbols(market)
        self._news = SimulatorNews(market.seed, lambda: clock.moment() / 1000)

    def symbols(self, query: Query) -> list[Row]:
        """Returns the answer of `stock/symbol`."""
        _check_exchange(query)
        moment = self._clock.moment()
        listed = (each for name, each in self._market.stocks.items() if self._market.is_listed(name, moment))
        return [symbol_row(stock) for stock in listed]

    def pairs(self, query: Query) -> list[Row]:
        """Returns the answer of `crypto/symbol`."""
        if text_of(query, "exchange").upper() != _PAIRS_EXCHANGE:
            return []
        named = self._symbols.pairs.items()
        return [pair_row(symbol, self._market.pairs[name]) for symbol, name in named]

    def search(self, query: Query) -> Row:
        """Returns the answer of `search`."""
        wanted = text_of(query, "q").casefold()
        listed = self._market.stocks.values()
        found = [each for each in listed if wanted in f"{each.ticker}\n{each.name}".casefold()]
        # The ticker itself first.
        found.sort(key=lambda stock: (stock.ticker.casefold() != wanted, stock.ticker))
        rows = [found_row(stock) for stock in found[:_MOST_FOUND]]
        return {"count": len(rows), "result": rows}

    def candles(self, query: Query) -> Row:
        """Returns the answer of `stock/candle` and `crypto/candle`."""
        interval = _RESOLUTIONS.get(text_of(query, "resolution"))
        name = self._symbols.find(text_of(query, "symbol"), self._clock.moment())
        first, last = number_of(query, "from"), number_of(query, "to")
        if interval is None:
            raise WrongParameters
        days = _DAYS if interval in ("D", "W", "M") else _INTRADAY_DAYS
        first = max(first, last - days * _DAY_SECONDS)
        if name is None or first > last:
            return candles_answer([])
        end = min(last * 1000, self._clock.moment())
        found = self._market.bars(name, interval, first * 1000, end) if first * 1000 <= end else []
        return candles_answer([each for each in found if each.start >= first * 1000])

    def status(self, query: Query) -> Row:
        """Returns the answer of `stock/market-status`."""
        _check_exchange(query)
        moment = self._clock.moment()
        is_open = self._market.is_open(moment)
        today = new_york_date(moment)
        is_day = self._market.calendar.first_from(today).date == today
        return {
            "exchange": _EXCHANGE,
            "holiday": None if is_day or today.weekday() > 4 else "Holiday",
            "isOpen": is_open,
            "session": "regular" if is_open else None,
            "t": moment // 1000,
            "timezone": str(NEW_YORK),
        }

    def holidays(self, query: Query) -> Row:
        """Returns the answer of `stock/market-holiday`: the coming year's, the latest first."""
        _check_exchange(query)
        today = new_york_date(self._clock.moment())
        days = [today + timedelta(days=number) for number in reversed(range(366))]
        rows = [row for day in days if day.weekday() < 5 and (row := self._holiday(day))]
        return {"data": rows, "exchange": _EXCHANGE, "timezone": str(NEW_YORK)}

    def company_news(self, query: Query) -> list[Row]:
        """Returns the answer of `company-news`, the newest first."""
        symbol = text_of(query, "symbol")
        first, last = day_of(query, "from"), day_of(query, "to")
        articles = self._news.between(_midnight(first), _midnight(last + timedelta(days=1)) - 1)
        found = [each for each in articles if symbol in each.symbols]
        return [news_row(each, "company", symbol) for each in found[:_MOST_NEWS]]

    def news(self, query: Query) -> list[Row]:
        """Returns the answer of `news`, the newest first."""
        if text_of(query, "category") not in _CATEGORIES:
            raise WrongParameters
        after = number_of(query, "minId", 0)
        now = self._clock.moment() // 1000
        found = self._news.between(now - _DAY_SECONDS, now)
        rows = [news_row(each, "top news") for each in found[:_MOST_NEWS]]
        return [row for row in rows if row["id"] > after]

    def _holiday(self, day: date) -> Row | None:
        """Returns the row of a day without trading or with an early close; None for any other."""
        trading = self._market.calendar.first_from(day)
        name = {"eventName": "Holiday", "atDate": day.isoformat()}
        if trading.date != day:
            return name | {"tradingHour": ""}
        opened, closed = (each.astimezone(NEW_YORK) for each in (trading.open, trading.close))
        if closed.date() != day or closed.hour >= 16:
            return None
        return name | {"tradingHour": f"{opened:%H:%M}-{closed:%H:%M}"}


def _check_exchange(query: Query) -> None:
    """Raises NoAccess for an exchange other than those of the United States."""
    if text_of(query, "exchange").upper() != _EXCHANGE:
        raise NoAccess


def _midnight(day: date) -> int:
    """Returns the Unix seconds of a date's midnight in UTC."""
    return (day.toordinal() - date(1970, 1, 1).toordinal()) * _DAY_SECONDS
