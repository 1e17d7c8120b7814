"""Alpaca's offer: quotes, bars, news, assets and corporate actions of US stocks."""

from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from quotecast.market import reference
from quotecast.market.feeds import Feed
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.alpaca.corporate_actions import AlpacaActions
from quotecast.providers.alpaca.history import AlpacaHistory
from quotecast.providers.alpaca.news import AlpacaNews
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.rest_wire import MarketClock
from quotecast.providers.alpaca.universe import AlpacaAssets, load_stocks
from quotecast.providers.offer import VARIABLE, Budgets, HttpUrl, Offer, Terms, WebSocketUrl

#: Seconds for which a response of the clock is reused.
CACHE_SECONDS: Final = 60.0
#: Calls per minute to the trading host. Alpaca counts them apart from market data, and the limit is the same
#: for every plan.
_TRADING_CALLS: Final = 150


class AlpacaSettings(Struct, frozen=True, kw_only=True):
    """The settings `QUOTECAST_ALPACA_*` and `QUOTECAST_STOCKS_FILE`."""

    stocks_file: Annotated[
        str,
        Meta(
            description="CSV with ticker, name, sector and industry; adds stocks or overrides their fields",
            extra={VARIABLE: "STOCKS_FILE"},
        ),
    ] = ""
    key: Annotated[str, Meta(description="Alpaca: the key's id")] = ""
    secret: Annotated[str, Meta(description="Alpaca: the key's secret")] = ""
    plan: Annotated[
        Literal["iex", "sip"], Meta(description="Alpaca: `iex` is the free plan, `sip` the paid one")
    ] = "iex"
    streamed: Annotated[
        tuple[str, ...],
        Meta(description="Alpaca: stocks whose trades are streamed; the free plan allows 30"),
    ] = ()
    calls: Annotated[
        int, Meta(ge=1, le=10_000, description="Alpaca: REST calls per minute, over all processes")
    ] = 180
    url: Annotated[HttpUrl, Meta(description="Alpaca: market data, REST")] = "https://data.alpaca.markets"
    trading_url: Annotated[HttpUrl, Meta(description="Alpaca: assets and clock, REST")] = (
        "https://paper-api.alpaca.markets"
    )
    websocket_url: Annotated[WebSocketUrl, Meta(description="Alpaca: market data, WebSocket")] = (
        "wss://stream.data.alpaca.markets"
    )


def _quotes(settings: AlpacaSettings, budgets: Budgets) -> AlpacaProvider:
    return AlpacaProvider(
        _market_data(settings, budgets),
        settings.websocket_url,
        stocks=_stocks(settings),
        plan_feed=settings.plan,
        streamed=settings.streamed,
        exchange_clock=AlpacaClock(_trading(settings, budgets)).market_clock,
    )


def _actions(settings: AlpacaSettings, budgets: Budgets) -> AlpacaActions:
    return AlpacaActions(_market_data(settings, budgets))


def _market_data(settings: AlpacaSettings, budgets: Budgets) -> AlpacaRest:
    admitted = budgets("alpaca", settings.calls)
    return AlpacaRest(settings.url, settings.key, settings.secret, admitted=admitted)


def _trading(settings: AlpacaSettings, budgets: Budgets) -> AlpacaRest:
    admitted = budgets("alpaca trading", _TRADING_CALLS)
    return AlpacaRest(settings.trading_url, settings.key, settings.secret, admitted=admitted)


def _stocks(settings: AlpacaSettings) -> list[reference.Stock]:
    return load_stocks(reference.stocks(), Path(settings.stocks_file) if settings.stocks_file else None)


OFFER: Final = Offer[AlpacaSettings](
    settings=AlpacaSettings,
    keys=("key", "secret"),
    live=True,
    terms={
        "alpaca": Terms(
            show="agreement",
            redistribute="no",
            source="https://alpaca.markets/support/redistribute-alpaca-api",
            read="2026-09-28",
            summary="for the owner of the account; showing it to others needs a contract",
        ),
    },
    quotes={Feed.STOCKS: _quotes},
    history={
        Feed.STOCKS: lambda settings, budgets, exchange: AlpacaHistory(
            _market_data(settings, budgets), plan_feed=settings.plan, calendar=exchange
        )
    },
    news=lambda settings, budgets: AlpacaNews(_market_data(settings, budgets)),
    assets=lambda settings, budgets: AlpacaAssets(_trading(settings, budgets), _stocks(settings)),
    renames=_actions,
    actions=_actions,
)


class AlpacaClock:
    """Alpaca's market clock."""

    def __init__(self, rest: AlpacaRest) -> None:
        self._rest = rest
        self._cached: MarketClock | None = None
        self._cached_at = 0.0

    async def market_clock(self) -> MarketClock:
        """Returns the exchange's clock, requested at most once a minute. Raises UpstreamError."""
        now = self._rest.clock()
        if self._cached is None or not 0 <= now - self._cached_at < CACHE_SECONDS:
            self._cached = await self._rest.get_once("/v2/clock", MarketClock)
            self._cached_at = now
        return self._cached
