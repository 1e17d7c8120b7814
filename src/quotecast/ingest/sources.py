"""Which provider feeds which feed: the one place where settings meet adapters."""

from quotecast.market.feeds import Feed
from quotecast.providers.base import QuoteProvider
from quotecast.providers.coinbase.client import CoinbaseProvider
from quotecast.providers.replay import ReplayProvider
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.settings import Settings


def chosen(settings: Settings) -> list[QuoteProvider]:
    """A provider for each feed that has one."""
    names = {Feed.STOCKS: settings.stocks, Feed.CRYPTO: settings.crypto, Feed.DOVIZ: settings.doviz}
    return [_provider(name, feed, settings) for feed, name in names.items() if name != "none"]


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
        case _:
            return SimulatorProvider(
                feed,
                seed=settings.simulator_seed,
                rate=settings.simulator_rate,
                speed=settings.simulator_speed,
                always_open=settings.simulator_hours == "always",
            )
