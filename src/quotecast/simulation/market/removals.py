"""The instruments of a feed that the market no longer lists."""

from quotecast.market.feeds import Feed
from quotecast.market.reference import doviz_instruments, pairs
from quotecast.simulation.market.invented import TABLE_STOCKS, listed_stocks
from quotecast.simulation.market.scenarios.base import Listed
from quotecast.simulation.market.scenarios.schedule import Schedule


class Removals:
    """Reports each instrument once when its listing ends; `gone` are the keys of those without one."""

    def __init__(self, feed: Feed, schedule: Schedule, stocks: int = TABLE_STOCKS) -> None:
        self._schedule = schedule
        self._symbols = {
            key: symbol
            for key, symbol in _instruments(feed, stocks).items()
            if any(isinstance(each, Listed) for each in schedule.alterations(symbol))
        }
        self.gone: set[str] = set()

    def next_removed(self, moment: int) -> list[str]:
        """Returns the keys of the instruments that left since the last call, up to a moment."""
        before = self.gone
        self.gone = {
            key for key, symbol in self._symbols.items() if not self._schedule.is_listed(symbol, moment)
        }
        return sorted(self.gone - before)


def _instruments(feed: Feed, stocks: int) -> dict[str, str]:
    """Returns the market's symbol of each key; a bank's instrument is listed as long as its underlying."""
    if feed is Feed.STOCKS:
        return {stock.ticker: stock.ticker for stock in listed_stocks(stocks)}
    if feed is Feed.CRYPTO:
        return {pair.ticker: pair.ticker for pair in pairs()}
    return {each.symbol: each.underlying or each.symbol for each in doviz_instruments()}
