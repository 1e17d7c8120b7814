"""The offer of Coinbase Exchange: quotes and bars of pairs."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.market.feeds import Feed
from quotecast.providers.coinbase.client import CoinbaseProvider
from quotecast.providers.coinbase.history import CoinbaseHistory
from quotecast.providers.offer import HttpUrl, Offer, Terms, WebSocketUrl


class CoinbaseSettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_COINBASE_*`."""

    url: Annotated[HttpUrl, Meta(description="Coinbase Exchange, REST")] = "https://api.exchange.coinbase.com"
    websocket_url: Annotated[WebSocketUrl, Meta(description="Coinbase Exchange, WebSocket")] = (
        "wss://ws-feed.exchange.coinbase.com"
    )
    products: Annotated[
        tuple[str, ...],
        Meta(description="Products to follow, such as `BTC-USD`; all that are online by default"),
    ] = ()


OFFER: Final = Offer[CoinbaseSettings](
    settings=CoinbaseSettings,
    live=True,
    terms={
        "coinbase": Terms(
            show="agreement",
            redistribute="agreement",
            source="https://www.coinbase.com/legal/market_data",
            read="2026-09-21",
            summary="for personal use and research; showing it to others needs written consent",
        ),
    },
    quotes={
        Feed.CRYPTO: lambda settings, _budgets: CoinbaseProvider(
            settings.url, settings.websocket_url, settings.products
        )
    },
    history={Feed.CRYPTO: lambda settings, _budgets, _exchange: CoinbaseHistory(settings.url)},
)
