"""Which provider answers requests for bars and company data: where settings meet adapters."""

from quotecast.market.feeds import Feed
from quotecast.providers.base import FinancialsProvider, HistoryProvider
from quotecast.providers.simulator.bars import SimulatorHistory
from quotecast.providers.simulator.financials import SimulatorFinancials
from quotecast.settings import Settings


def history(settings: Settings) -> dict[Feed, HistoryProvider]:
    """Bars for each feed whose provider has them."""
    chosen = {Feed.STOCKS: settings.stocks, Feed.CRYPTO: settings.crypto[0]}
    return {feed: _simulated(feed, settings) for feed, name in chosen.items() if name == "simulator"}


def financials(settings: Settings) -> FinancialsProvider | None:
    """Company data, if the operator wants any."""
    if settings.financials == "none":
        return None
    return SimulatorFinancials(settings.simulator_seed, always_open=settings.simulator_hours == "always")


def _simulated(feed: Feed, settings: Settings) -> HistoryProvider:
    always_open = settings.simulator_hours == "always"
    return SimulatorHistory(feed, seed=settings.simulator_seed, always_open=always_open)
