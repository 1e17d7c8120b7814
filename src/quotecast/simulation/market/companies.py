"""The invented companies of the simulated stocks: their constant traits."""

from collections.abc import Mapping
from functools import lru_cache
from math import log10
from typing import Final, Literal

from msgspec import Struct

from quotecast.market.reference import Stock, stocks
from quotecast.simulation.market.noise import fractions, key_of, noise
from quotecast.simulation.market.paths import Path, paths

#: Time of day of reports: before the market opens (bmo) or after it closes (amc).
Hour = Literal["bmo", "amc"]

_TRAIT_KIND: Final = 1
_TRAITS: Final = 13
#: Last months of fiscal years, weighted by how many companies choose them.
_YEAR_ENDS: Final = (12,) * 15 + (9, 9, 6, 6, 1)
_LOSS_MAKERS: Final = 0.06
_PAYERS: Final = 0.65


class Company(Struct, frozen=True):
    """A company's traits; amounts are shares of its revenue unless noted."""

    stock: Stock
    #: Key of the company's random numbers.
    key: bytes
    #: Month in which its fiscal years end.
    last_month: int
    #: Time of day of its reports, and the minimum days from a quarter's end to its report.
    hour: Hour
    delay_days: int
    #: Mean quarterly revenue in US dollars, and the path that drives its growth.
    revenue: float
    sales: Path
    #: Amplitude of the season, and the strongest fiscal quarter (1 to 4).
    season: float
    peak: int
    #: Mean net margin, negative for the few loss makers, and the path that drives it.
    margin: float
    skill: Path
    overhead: float
    #: Payout ratio; 0 for companies without a dividend.
    payout: float
    assets: float
    #: Equity as a share of the assets.
    equity: float
    #: Debt-to-equity ratio.
    leverage: float
    current_ratio: float
    analysts: int
    #: Analysts' sentiment by month.
    mood: Path


@lru_cache(maxsize=4)
def companies_of(seed: int) -> Mapping[str, Company]:
    """Returns the companies of all stocks by ticker: company data, dividends and vendors share them."""
    return {stock.ticker: _company(stock, seed) for stock in stocks()}


def _company(stock: Stock, seed: int) -> Company:
    """Returns a stock's company, whose profit is in proportion to the stock's mean price."""
    path = paths(seed)
    key = key_of(seed, "company", stock.ticker)
    traits = list(fractions(noise(key, 0, _TRAIT_KIND, 2 * _TRAITS)))
    year_end, hour, delay, valuation, margin, luck, overhead, *traits = traits
    season, peak, payout, equity, debt, cash = traits
    profit = 0.04 + 0.22 * margin
    capital = stock.shares * stock.price
    return Company(
        stock=stock,
        key=key,
        last_month=_YEAR_ENDS[int(year_end * len(_YEAR_ENDS))],
        hour="bmo" if hour < 0.5 else "amc",
        delay_days=16 + int(24 * delay),
        revenue=capital / (12 + 26 * valuation) / profit / 4,
        sales=path(f"sales {stock.ticker}"),
        season=0.15 * season,
        peak=1 + int(4 * peak),
        margin=-0.5 * profit if luck < _LOSS_MAKERS else profit,
        skill=path(f"skill {stock.ticker}"),
        overhead=0.08 + 0.35 * overhead,
        payout=0.15 + 0.8 * payout if payout < _PAYERS else 0.0,
        assets=4 * (0.8 + 1.4 * equity),
        equity=0.25 + 0.4 * equity,
        leverage=0.1 + 1.3 * debt,
        current_ratio=0.8 + 1.8 * cash,
        analysts=max(3, min(45, int(10 * (log10(capital) - 8.5)))),
        mood=path(f"mood {stock.ticker}"),
    )
