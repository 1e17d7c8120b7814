"""The offer of Binance: quotes and bars of pairs."""

from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta, Struct

from quotecast.market.feeds import Feed
from quotecast.providers.binance.client import BinanceProvider
from quotecast.providers.binance.history import BinanceHistory
from quotecast.providers.binance.wire import venue_of
from quotecast.providers.offer import HttpUrl, Offer, Terms, WebSocketUrl


class BinanceSettings(Struct, frozen=True, kw_only=True):
    """The variables `QUOTECAST_BINANCE_*`."""

    url: Annotated[HttpUrl, Meta(description="Binance, REST")] = "https://data-api.binance.vision"
    websocket_url: Annotated[WebSocketUrl, Meta(description="Binance, WebSocket")] = (
        "wss://data-stream.binance.vision"
    )
    pairs: Annotated[
        tuple[str, ...], Meta(description="Pairs to follow, such as `BTC/USDT`; the best known by default")
    ] = ()


def _problems(settings: BinanceSettings) -> Iterator[str]:
    if venue_of(settings.url) is not venue_of(settings.websocket_url):
        yield "WEBSOCKET_URL: name hosts of one venue, as in QUOTECAST_BINANCE_URL"


OFFER: Final = Offer[BinanceSettings](
    settings=BinanceSettings,
    problems=_problems,
    live=True,
    terms={
        "binance": Terms(
            show="agreement",
            redistribute="agreement",
            attribution="Binance, CC BY-NC-SA 4.0",
            source="https://data.binance.vision/terms-of-use.html",
            read="2026-09-13",
            summary="CC BY-NC-SA 4.0: commercial use needs an agreement; not served to every country",
        ),
    },
    quotes={
        Feed.CRYPTO: lambda settings, _budgets: BinanceProvider(
            settings.url, settings.websocket_url, settings.pairs
        )
    },
    history={Feed.CRYPTO: lambda settings, _budgets, _exchange: BinanceHistory(settings.url)},
)
