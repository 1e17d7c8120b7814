"""The stocks of the simulated exchange: the companies of the reference table, and invented ones beyond them.

An invented stock depends on its number alone, so that a larger market has all stocks of a smaller one.
"""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count, islice
from string import ascii_uppercase
from typing import Final, TypeVar

import msgspec

from quotecast.market.assets import Asset
from quotecast.market.reference import Stock, stocks
from quotecast.simulation.market.noise import fractions, key_of, noise
from quotecast.simulation.market.quoters import NAME
from quotecast.simulation.market.scenarios.schedule import Schedule

T = TypeVar("T")

#: Stocks of the smallest and of the largest market; all US stocks and ETFs are some 12,000.
TABLE_STOCKS: Final = 500
MAX_STOCKS: Final = 20_000

_TRAIT_KIND: Final = 1
_LETTERS: Final = 4
_TICKERS: Final = len(ascii_uppercase) ** _LETTERS
#: Has no common divisor with `_TICKERS`, so that no ticker comes twice.
_STRIDE: Final = 186_647
#: Every so many invented stocks there is a fund.
_FUND_EVERY: Final = 4

_BEGINNINGS: Final = (
    "Al", "Bra", "Cal", "Dor", "El", "Fal", "Gran", "Hol", "Is", "Jor", "Kel", "Lan", "Mar", "Nor", "Or",
    "Pel", "Quin", "Ros", "Sel", "Tor", "Ul", "Ver", "Wes", "Yar", "Zen",
)  # fmt: skip
_MIDDLES: Final = ("", "a", "be", "de", "i", "la", "mi", "o", "ra", "ti", "u", "va")
_ENDINGS: Final = (
    "bridge", "crest", "dale", "field", "gate", "haven", "lake", "lor", "mont", "nova", "point", "ridge",
    "stead", "stone", "tek", "ton", "vale", "ville", "ward", "wick",
)  # fmt: skip
_FORMS: Final = ("Inc.", "Corporation", "Holdings, Inc.", "Group Inc.", "Company", "Ltd.")
_FUND_KINDS: Final = ("ETF", "Income ETF", "Growth ETF", "Value ETF", "Dividend ETF", "Index Fund ETF")
FUND_SECTOR: Final = "Funds"
_FUND_INDUSTRY: Final = "Exchange-Traded Funds"


@lru_cache(4)
def listed_stocks(number: int) -> tuple[Stock, ...]:
    """Returns so many stocks, by ticker: at least those of the table, at most MAX_STOCKS."""
    table = stocks()
    known = {stock.ticker for stock in table}
    tickers = (ticker for ticker in map(_ticker, count(1)) if ticker not in known)
    invented = [_stock(place, ticker) for place, ticker in enumerate(islice(tickers, number - len(table)))]
    return tuple(sorted((*table, *invented), key=lambda stock: stock.ticker))


def _ticker(number: int) -> str:
    """Returns four letters that no other number below `_TICKERS` has."""
    rest = number * _STRIDE % _TICKERS
    letters = ""
    for _ in range(_LETTERS):
        rest, letter = divmod(rest, len(ascii_uppercase))
        letters += ascii_uppercase[letter]
    return letters


def _stock(number: int, ticker: str) -> Stock:
    traits = list(fractions(noise(key_of(0, "invented stock", ticker), 0, _TRAIT_KIND, 16)))
    model, beginning, middle, ending, form, price, size, venue = traits
    like = _of(stocks(), model)
    name = _of(_BEGINNINGS, beginning) + _of(_MIDDLES, middle) + _of(_ENDINGS, ending)
    is_fund = number % _FUND_EVERY == 0
    return Stock(
        ticker=ticker,
        name=f"{name} {like.sector} {_of(_FUND_KINDS, form)}" if is_fund else f"{name} {_of(_FORMS, form)}",
        exchange=("NYSE Arca" if venue < 0.8 else "NASDAQ") if is_fund else like.exchange,
        sector=FUND_SECTOR if is_fund else like.sector,
        industry=_FUND_INDUSTRY if is_fund else like.industry,
        # From 1 to 400 million shares, at 3 to 300 dollars.
        shares=int(1_000_000 * 400**size),
        price=round(3 * 100**price, 2),
    )


def _of(choices: Sequence[T], share: float) -> T:
    """Returns the choice at a share of the way, 0 to below 1."""
    return choices[int(share * len(choices))]


class SimulatorAssets:
    """The stocks that the simulator quotes; `clock` returns Unix time of the market."""

    name = NAME
    every_seconds = 15.0

    def __init__(
        self,
        schedule: Schedule | None = None,
        clock: Callable[[], float] = time.time,
        *,
        stocks: int = TABLE_STOCKS,
    ) -> None:
        self._stocks = listed_stocks(stocks)
        self._schedule = schedule or Schedule()
        self._clock = clock

    async def assets(self) -> list[Asset]:
        """Returns all listed stocks, sorted by ticker."""
        now = int(self._clock() * 1000)
        self._schedule.admit(now)
        listed = [stock for stock in self._stocks if self._schedule.is_listed(stock.ticker, now)]
        return msgspec.convert(listed, list[Asset], from_attributes=True)
