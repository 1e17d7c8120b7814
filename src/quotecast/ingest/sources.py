"""Which provider feeds which feed: the one place where settings meet adapters."""

import os
import time

from quotecast.ingest.documents import Source, assets_of, news_of
from quotecast.market.feeds import Feed
from quotecast.providers import plugins
from quotecast.providers.base import QuoteProvider
from quotecast.providers.coinbase.client import CoinbaseProvider
from quotecast.providers.replay import ReplayProvider
from quotecast.providers.simulator.assets import SimulatorAssets
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.providers.simulator.news import SimulatorNews
from quotecast.settings import Settings


def chosen(settings: Settings) -> list[QuoteProvider]:
    """A provider for each feed that has one."""
    names = {Feed.STOCKS: settings.stocks, Feed.CRYPTO: settings.crypto[0], Feed.DOVIZ: settings.doviz}
    return [_provider(name, feed, settings) for feed, name in names.items() if name != "none"]


def documents(settings: Settings) -> list[Source]:
    """The upstreams of news and assets: whoever quotes the stocks has them too."""
    if settings.stocks == "none":
        return []
    news = SimulatorNews(settings.simulator_seed, time.time)
    return [news_of(news, Feed.STOCKS), assets_of(SimulatorAssets(), Feed.STOCKS)]


def crypto_provider(name: str, settings: Settings) -> QuoteProvider:
    """One provider of crypto quotes."""
    return _provider(name, Feed.CRYPTO, settings)


def _provider(name: str, feed: Feed, settings: Settings) -> QuoteProvider:
    match name:
        case "coinbase":
            return CoinbaseProvider(
                settings.coinbase_url, settings.coinbase_websocket_url, settings.coinbase_products
            )
        case "replay":
            return ReplayProvider(
                settings.replay_file, speed=settings.replay_speed, loop=settings.replay_loop == "on"
            )
        case "simulator":
            return SimulatorProvider(
                feed,
                seed=settings.simulator_seed,
                rate=settings.simulator_rate,
                speed=settings.simulator_speed,
                always_open=settings.simulator_hours == "always",
            )
        case _:
            return plugins.offer(name).quotes[feed](plugins.values(name, os.environ))
