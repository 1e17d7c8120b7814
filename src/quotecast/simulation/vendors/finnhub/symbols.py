"""Finnhub's symbols: a stock's is its ticker, a pair's names the exchange, such as `BINANCE:BTCUSDT`."""

from collections.abc import Mapping

from quotecast.simulation.vendors.market import Market

_EXCHANGE = "BINANCE"


class Symbols:
    """The market's instruments by Finnhub's symbols."""

    def __init__(self, market: Market) -> None:
        self._market = market
        #: Pairs by their symbols here; those in dollars have other names on that exchange.
        self.pairs: Mapping[str, str] = {
            f"{_EXCHANGE}:{pair.base}{pair.quote}": name
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
