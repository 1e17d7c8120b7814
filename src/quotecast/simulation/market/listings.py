"""The simulation's parameters of an instrument: mean price, volatility, correlation and tick size."""

from collections.abc import Callable
from math import exp, floor, hypot, log10
from typing import Final

from msgspec import Struct

from quotecast.market.reference import DovizInstrument, Pair, Stock
from quotecast.simulation.market.noise import fractions, key_of, noise
from quotecast.simulation.market.paths import Path

#: Smallest tradable units in one coin.
COIN_UNITS: Final = 100_000_000

_TRAIT_KIND: Final = 1
#: Weights of market, sector and the stock itself in its moves; their squares add up to 1.
_MARKET, _SECTOR, _OWN = 0.5, 0.5, 0.7071
#: Weights of all coins and the coin itself in its moves.
_ALL_COINS, _COIN = 0.6, 0.8
#: Weights of the category and the instrument itself in a doviz instrument's moves.
_CATEGORY, _MEMBER = 0.95, 0.3122

#: Standard deviation of a day's logarithmic move, by instrument group.
_CALM_COINS: Final = {
    **dict.fromkeys(("USD", "USDT", "USDC", "DAI", "FDUSD", "TUSD"), 0.0001),
    **dict.fromkeys(("EUR", "GBP", "TRY", "JPY", "BRL", "CHF"), 0.004),
    "BTC": 0.024,
    "ETH": 0.03,
}
_DOVIZ_MOVES: Final = {
    "gold": 0.009,
    "silver": 0.016,
    "precious_metals": 0.014,
    "currency": 0.0035,
    "index": 0.014,
}
_FIAT_LIMIT: Final = 0.01


class Listing(Struct, frozen=True):
    """An instrument of the simulated market."""

    key: bytes
    #: Mean price, to which the path reverts.
    price: float
    #: Ticks per unit of the quote currency.
    scale: int
    #: Weight and path of each driver of the logarithmic price.
    drivers: tuple[tuple[float, Path], ...]
    #: Typical daily volume, in the smallest tradable units.
    daily_volume: int = 0
    #: Smallest tradable units in one share or coin.
    volume_scale: int = 1

    @property
    def volatility(self) -> float:
        """Returns the standard deviation of a day's logarithmic move."""
        return hypot(*(weight for weight, _ in self.drivers))

    def ticks(self, index: int) -> int:
        """Returns the price at a point of the paths, in ticks."""
        move = 0.0
        for weight, path in self.drivers:
            move += weight * path(index)
        return max(1, round(self.scale * self.price * exp(move)))


def stock_listing(stock: Stock, seed: int, path: Callable[[str], Path]) -> Listing:
    """Returns a stock's listing: it follows market and sector, and 0.2-1 % of its shares trade per day."""
    key = key_of(seed, "stock", stock.ticker)
    temper, turnover = _traits(key)
    volatility = 0.011 + 0.016 * temper
    return Listing(
        key=key,
        price=stock.price,
        scale=100,
        drivers=(
            (volatility * _MARKET, path("market")),
            (volatility * _SECTOR, path(f"sector {stock.sector}")),
            (volatility * _OWN, path(f"stock {stock.ticker}")),
        ),
        daily_volume=max(1000, int(stock.shares * (0.002 + 0.008 * turnover))),
    )


def pair_listing(pair: Pair, seed: int, path: Callable[[str], Path]) -> Listing:
    """Returns a pair's listing: it follows its two assets, so pairs with a common asset agree day by day."""
    key = key_of(seed, "pair", pair.ticker)
    _, turnover = _traits(key)
    weights = _asset_weights(pair.base, seed)
    for name, weight in _asset_weights(pair.quote, seed).items():
        weights[name] = weights.get(name, 0.0) - weight
    return Listing(
        key=key,
        price=pair.price,
        scale=10 ** min(12, max(2, 5 - floor(log10(pair.price)))),
        drivers=tuple((weight, path(name)) for name, weight in weights.items()),
        daily_volume=max(1, int(pair.supply * (0.001 + 0.004 * turnover) * COIN_UNITS)),
        volume_scale=COIN_UNITS,
    )


def doviz_listing(instrument: DovizInstrument, seed: int, path: Callable[[str], Path]) -> Listing:
    """Returns the listing of a currency, metal or index: it follows its category and has no volume."""
    volatility = _DOVIZ_MOVES[instrument.category]
    return Listing(
        key=key_of(seed, "doviz", instrument.symbol),
        price=instrument.price,
        scale=_doviz_scale(instrument.price),
        drivers=(
            (volatility * _CATEGORY, path(f"category {instrument.category}")),
            (volatility * _MEMBER, path(f"doviz {instrument.symbol}")),
        ),
    )


def markup_of(instrument: DovizInstrument, seed: int) -> float:
    """Returns a bank's markup over the market's selling price: 0 to 0.003."""
    offset, _ = _traits(key_of(seed, "bank", instrument.symbol))
    return 0.003 * offset


def _doviz_scale(price: float) -> int:
    if price < 1:
        return 100_000
    return 10_000 if price < 1000 else 100


def _asset_weights(asset: str, seed: int) -> dict[str, float]:
    temper, _ = _traits(key_of(seed, "asset", asset))
    volatility = _CALM_COINS.get(asset, 0.03 + 0.02 * temper)
    own = f"asset {asset}"
    if volatility < _FIAT_LIMIT:
        return {own: volatility}
    return {"coins": volatility * _ALL_COINS, own: volatility * _COIN}


def _traits(key: bytes) -> tuple[float, float]:
    first, second = fractions(noise(key, 0, _TRAIT_KIND, 4))
    return first, second
