"""Which provider answers requests for bars and company data: where settings meet adapters."""

import os
from collections.abc import Callable
from typing import Final

from quotecast.market.calendars import Exchange
from quotecast.market.feeds import Feed
from quotecast.providers import plugins
from quotecast.providers.alpaca.history import AlpacaHistory
from quotecast.providers.base import Admission, FinancialsProvider, HistoryProvider, unlimited
from quotecast.providers.binance.history import BinanceHistory
from quotecast.providers.coinbase.history import CoinbaseHistory
from quotecast.providers.finnhub.client import FinnhubFinancials
from quotecast.providers.kraken.history import KrakenHistory
from quotecast.providers.simulator.bars import SimulatorHistory
from quotecast.providers.simulator.financials import SimulatorFinancials
from quotecast.settings import Settings

#: One in so many calls of a plan may be about a company that nobody lists.
UNLISTED_SHARE: Final = 5

#: Makes, from an upstream's name and its calls per minute, what is asked before each call.
Budgets = Callable[[str, int], Admission]


def history(
    settings: Settings, budgets: Budgets, calendar: Callable[[], Exchange]
) -> dict[Feed, dict[str, HistoryProvider]]:
    """Bars for each feed, by the name of their provider; `calendar` is the exchange's as it is now."""
    stocks = _stock_bars(settings, budgets, calendar)
    crypto = [_crypto_bars(name, settings) for name in settings.crypto]
    return {
        Feed.STOCKS: {stocks.name: stocks} if stocks else {},
        Feed.CRYPTO: {bars.name: bars for bars in crypto if bars},
    }


def financials(settings: Settings, budgets: Budgets) -> FinancialsProvider | None:
    """Company data, if the operator wants any."""
    match settings.financials:
        case "none":
            return None
        case "simulator":
            return SimulatorFinancials(
                settings.simulator_seed, always_open=settings.simulator_hours == "always"
            )
        case "finnhub":
            admitted = budgets("finnhub", settings.finnhub_calls)
            return FinnhubFinancials(settings.finnhub_url, settings.finnhub_key, admitted=admitted)
        case name:
            make = plugins.offer(name).financials
            return make(plugins.values(name, os.environ)) if make else None


def unlisted(settings: Settings, budgets: Budgets) -> Admission:
    """What is asked before a call about a company that nobody lists: a share of the upstream's plan.

    So invented symbols leave the rest of the plan to real ones.
    """
    if settings.financials != "finnhub":
        return unlimited
    return budgets("finnhub unlisted", max(1, settings.finnhub_calls // UNLISTED_SHARE))


def _stock_bars(
    settings: Settings, budgets: Budgets, calendar: Callable[[], Exchange]
) -> HistoryProvider | None:
    match settings.stocks:
        case "none":
            return None
        case "simulator":
            return _simulated(Feed.STOCKS, settings)
        case "alpaca":
            return AlpacaHistory(
                settings.alpaca_url,
                settings.alpaca_key,
                settings.alpaca_secret,
                plan_feed=settings.alpaca_plan,
                admitted=budgets("alpaca", settings.alpaca_calls),
                calendar=calendar,
            )
        case name:
            return _added(name, Feed.STOCKS)


def _crypto_bars(name: str, settings: Settings) -> HistoryProvider | None:
    match name:
        case "none" | "replay":
            return None
        case "simulator":
            return _simulated(Feed.CRYPTO, settings)
        case "binance":
            return BinanceHistory(settings.binance_url)
        case "coinbase":
            return CoinbaseHistory(settings.coinbase_url)
        case "kraken":
            return KrakenHistory(settings.kraken_url)
        case _:
            return _added(name, Feed.CRYPTO)


def _added(name: str, feed: Feed) -> HistoryProvider | None:
    """Bars of a provider that a package adds, if it has them."""
    make = plugins.offer(name).history.get(feed)
    return make(plugins.values(name, os.environ)) if make else None


def _simulated(feed: Feed, settings: Settings) -> HistoryProvider:
    always_open = settings.simulator_hours == "always"
    return SimulatorHistory(feed, seed=settings.simulator_seed, always_open=always_open)
