"""Which provider feeds which feed: the one place where settings meet adapters."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from quotecast.ingest.documents import Source, assets_of, news_of
from quotecast.ingest.failover import Failover
from quotecast.market.feeds import Feed
from quotecast.providers import plugins, reference, turkey
from quotecast.providers.alpaca.assets import AlpacaAssets
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.alpaca.hours import AlpacaClock
from quotecast.providers.alpaca.news import AlpacaNews
from quotecast.providers.alpaca.universe import stocks_from
from quotecast.providers.base import Admission, QuoteProvider
from quotecast.providers.binance.client import BinanceProvider
from quotecast.providers.coinbase.client import CoinbaseProvider
from quotecast.providers.kraken.client import KrakenProvider
from quotecast.providers.replay import ReplayProvider
from quotecast.providers.simulator.assets import SimulatorAssets
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.providers.simulator.news import SimulatorNews
from quotecast.settings import Settings

#: Makes, from an upstream's name and its calls per minute, what is asked before each call.
Budgets = Callable[[str, int], Admission]

#: Calls per minute of Alpaca's other host, which every plan has and counts by itself.
_TRADING_CALLS: Final = 150


def chosen(settings: Settings, budgets: Budgets) -> list[QuoteProvider]:
    """A provider for each feed that has one."""
    found = [
        _stocks(settings, budgets) if settings.stocks != "none" else None,
        _crypto(settings) if settings.crypto != ("none",) else None,
        _doviz(settings) if settings.doviz != "none" else None,
    ]
    return [provider for provider in found if provider]


def documents(settings: Settings, budgets: Budgets) -> list[Source]:
    """The upstreams of news and assets: whoever quotes the stocks has them too."""
    feed = Feed.STOCKS
    match settings.stocks:
        case "none":
            return []
        case "simulator":
            news = SimulatorNews(settings.simulator_seed, time.time)
            return [news_of(news, feed), assets_of(SimulatorAssets(), feed)]
        case "alpaca":
            keys = settings.alpaca_key, settings.alpaca_secret
            admitted = budgets("alpaca", settings.alpaca_calls)
            trading = budgets("alpaca trading", _TRADING_CALLS)
            stocks = _known_stocks(settings)
            return [
                news_of(AlpacaNews(settings.alpaca_url, *keys, admitted=admitted), feed),
                assets_of(
                    AlpacaAssets(settings.alpaca_trading_url, *keys, stocks=stocks, admitted=trading), feed
                ),
            ]
        case name:
            offer, values = plugins.offer(name), plugins.values(name, os.environ)
            news_and_assets = [
                news_of(offer.news(values), feed) if offer.news else None,
                assets_of(offer.assets(values), feed) if offer.assets else None,
            ]
            return [source for source in news_and_assets if source]


def crypto_provider(name: str, settings: Settings) -> QuoteProvider:
    """One provider of crypto quotes."""
    match name:
        case "simulator":
            return _simulated(Feed.CRYPTO, settings)
        case "binance":
            return BinanceProvider(
                settings.binance_url, settings.binance_websocket_url, settings.binance_pairs
            )
        case "coinbase":
            return CoinbaseProvider(
                settings.coinbase_url, settings.coinbase_websocket_url, settings.coinbase_products
            )
        case "kraken":
            return KrakenProvider(settings.kraken_websocket_url, settings.kraken_pairs)
        case "replay":
            return ReplayProvider(
                settings.replay_file, speed=settings.replay_speed, loop=settings.replay_loop == "on"
            )
        case _:
            return _added(name, Feed.CRYPTO)


def _crypto(settings: Settings) -> QuoteProvider:
    providers = [crypto_provider(name, settings) for name in settings.crypto]
    return providers[0] if len(providers) == 1 else Failover(providers)


def _stocks(settings: Settings, budgets: Budgets) -> QuoteProvider:
    match settings.stocks:
        case "simulator":
            return _simulated(Feed.STOCKS, settings)
        case "alpaca":
            keys = settings.alpaca_key, settings.alpaca_secret
            admitted = budgets("alpaca", settings.alpaca_calls)
            return AlpacaProvider(
                settings.alpaca_url,
                settings.alpaca_websocket_url,
                *keys,
                stocks=_known_stocks(settings),
                plan_feed=settings.alpaca_plan,
                streamed=settings.alpaca_streamed,
                admitted=admitted,
                exchange_clock=AlpacaClock(
                    settings.alpaca_trading_url, *keys, admitted=budgets("alpaca trading", _TRADING_CALLS)
                ).answer,
            )
        case name:
            return _added(name, Feed.STOCKS)


def _doviz(settings: Settings) -> QuoteProvider:
    match settings.doviz:
        case "simulator":
            return _simulated(Feed.DOVIZ, settings)
        case "tcmb":
            return turkey.central_bank(settings.tcmb_url)
        case "truncgil":
            return turkey.market(
                settings.truncgil_url,
                settings.truncgil_v5_url,
                settings.genelpara_url,
                settings.tcmb_url,
            )
        case name:
            return _added(name, Feed.DOVIZ)


def _known_stocks(settings: Settings) -> list[reference.Stock]:
    return stocks_from(reference.stocks(), Path(settings.stocks_file) if settings.stocks_file else None)


def _added(name: str, feed: Feed) -> QuoteProvider:
    """A provider that a package adds."""
    make = plugins.offer(name).quotes.get(feed)
    if make is None:
        raise plugins.PluginBroken(f"The provider {name} has no quotes of {feed}")
    return make(plugins.values(name, os.environ))


def _simulated(feed: Feed, settings: Settings) -> QuoteProvider:
    return SimulatorProvider(
        feed,
        seed=settings.simulator_seed,
        rate=settings.simulator_rate,
        speed=settings.simulator_speed,
        always_open=settings.simulator_hours == "always",
    )
