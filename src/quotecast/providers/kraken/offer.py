"""The offer of Kraken: quotes and bars of pairs."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.market.feeds import Feed
from quotecast.providers.kraken.client import KrakenProvider
from quotecast.providers.kraken.history import KrakenHistory
from quotecast.providers.offer import HttpUrl, Offer, Terms, WebSocketUrl


class KrakenSettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_KRAKEN_*`."""

    url: Annotated[HttpUrl, Meta(description="Kraken, REST")] = "https://api.kraken.com"
    websocket_url: Annotated[WebSocketUrl, Meta(description="Kraken, WebSocket")] = "wss://ws.kraken.com/v2"
    pairs: Annotated[
        tuple[str, ...], Meta(description="Pairs to follow, such as `BTC/USD`; the best known by default")
    ] = ()


OFFER: Final = Offer[KrakenSettings](
    settings=KrakenSettings,
    live=True,
    terms={
        "kraken": Terms(
            show="agreement",
            redistribute="agreement",
            source="https://www.kraken.com/legal/global-terms",
            read="2026-09-24",
            summary="for your own benefit; passing it on, and commercial use, need permission",
        ),
    },
    quotes={Feed.CRYPTO: lambda settings, _budgets: KrakenProvider(settings.websocket_url, settings.pairs)},
    history={Feed.CRYPTO: lambda settings, _budgets, _exchange: KrakenHistory(settings.url)},
)
