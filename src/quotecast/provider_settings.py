"""The settings of providers: which feeds what, where they are, and the operator's keys.

They are part of `quotecast.settings`, and read from the environment there.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from quotecast.environment import DEMAND

#: The providers of each group that come with the service; packages may add others.
CHOICES: Final = {
    "stocks": ("simulator", "alpaca", "none"),
    "crypto": ("simulator", "binance", "coinbase", "kraken", "replay", "none"),
    "doviz": ("simulator", "truncgil", "tcmb", "none"),
    "financials": ("simulator", "finnhub", "none"),
}

#: Settings that an operator keeps to himself.
PROVIDER_SECRETS: Final = ("alpaca_key", "alpaca_secret", "finnhub_key")

_HTTP: Final = "begin with http:// or https:// and hold no spaces"
_WEBSOCKET: Final = "begin with ws:// or wss:// and hold no spaces"
HttpUrl = Annotated[str, Meta(pattern=r"^https?://[^\s]+$", extra={DEMAND: _HTTP})]
WebSocketUrl = Annotated[str, Meta(pattern=r"^wss?://[^\s]+$", extra={DEMAND: _WEBSOCKET})]


def _meaning(text: str, group: str) -> str:
    return f"{text} ({', '.join(f'`{name}`' for name in CHOICES[group])})"


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """One process's settings of providers; each field is the variable `QUOTECAST_<FIELD>`."""

    stocks: Annotated[
        str, Meta(description=_meaning("Provider of stock quotes, bars, news and assets", "stocks"))
    ] = "simulator"
    crypto: Annotated[
        tuple[str, ...],
        Meta(
            description=_meaning(
                "Providers of crypto quotes and bars; each stands in for the one before", "crypto"
            )
        ),
    ] = ("simulator",)
    doviz: Annotated[
        str, Meta(description=_meaning("Provider of Turkish currency, gold and metals", "doviz"))
    ] = "simulator"
    financials: Annotated[str, Meta(description=_meaning("Provider of company data", "financials"))] = (
        "simulator"
    )

    stocks_file: Annotated[
        str,
        Meta(description="CSV with ticker, name, sector and industry, which adds to the known stocks"),
    ] = ""
    alpaca_key: Annotated[str, Meta(description="Alpaca: the key's id")] = ""
    alpaca_secret: Annotated[str, Meta(description="Alpaca: the key's secret")] = ""
    alpaca_plan: Annotated[
        Literal["iex", "sip"], Meta(description="Alpaca: `iex` is the free plan, `sip` the paid one")
    ] = "iex"
    alpaca_streamed: Annotated[
        tuple[str, ...],
        Meta(description="Alpaca: stocks whose every trade is followed; the free plan has 30"),
    ] = ()
    alpaca_calls: Annotated[
        int, Meta(ge=1, le=10_000, description="Alpaca: REST calls per minute, over all processes")
    ] = 180
    alpaca_url: Annotated[HttpUrl, Meta(description="Alpaca: market data, REST")] = (
        "https://data.alpaca.markets"
    )
    alpaca_trading_url: Annotated[HttpUrl, Meta(description="Alpaca: assets, clock and calendar, REST")] = (
        "https://paper-api.alpaca.markets"
    )
    alpaca_websocket_url: Annotated[WebSocketUrl, Meta(description="Alpaca: market data, WebSocket")] = (
        "wss://stream.data.alpaca.markets"
    )

    binance_url: Annotated[HttpUrl, Meta(description="Binance, REST")] = "https://data-api.binance.vision"
    binance_websocket_url: Annotated[WebSocketUrl, Meta(description="Binance, WebSocket")] = (
        "wss://data-stream.binance.vision"
    )
    binance_pairs: Annotated[
        tuple[str, ...], Meta(description="Pairs to follow, such as `BTC/USDT`; the best known by default")
    ] = ()
    coinbase_url: Annotated[HttpUrl, Meta(description="Coinbase Exchange, REST")] = (
        "https://api.exchange.coinbase.com"
    )
    coinbase_websocket_url: Annotated[WebSocketUrl, Meta(description="Coinbase Exchange, WebSocket")] = (
        "wss://ws-feed.exchange.coinbase.com"
    )
    coinbase_products: Annotated[
        tuple[str, ...],
        Meta(description="Products to follow, such as `BTC-USD`; all that are online by default"),
    ] = ()

    replay_file: Annotated[Path, Meta(description="Recording that `replay` plays")] = Path("recording.ndjson")
    replay_speed: Annotated[
        float, Meta(gt=0, le=100_000, description="How many times faster than recorded")
    ] = 1.0
    replay_loop: Annotated[
        Literal["on", "off"], Meta(description="Whether a replay starts over at its end")
    ] = "off"

    kraken_url: Annotated[HttpUrl, Meta(description="Kraken, REST")] = "https://api.kraken.com"
    kraken_websocket_url: Annotated[WebSocketUrl, Meta(description="Kraken, WebSocket")] = (
        "wss://ws.kraken.com/v2"
    )
    kraken_pairs: Annotated[
        tuple[str, ...], Meta(description="Pairs to follow, such as `BTC/USD`; the best known by default")
    ] = ()

    tcmb_url: Annotated[HttpUrl, Meta(description="Central Bank of Türkiye")] = "https://www.tcmb.gov.tr"
    truncgil_url: Annotated[HttpUrl, Meta(description="Truncgil, versions 3 and 4")] = (
        "https://finans.truncgil.com"
    )
    truncgil_v5_url: Annotated[HttpUrl, Meta(description="Truncgil, version 5")] = (
        "https://finance.truncgil.com"
    )
    genelpara_url: Annotated[HttpUrl, Meta(description="GenelPara")] = "https://api.genelpara.com"

    finnhub_url: Annotated[HttpUrl, Meta(description="Finnhub")] = "https://finnhub.io/api/v1"
    finnhub_key: Annotated[str, Meta(description="Finnhub: the key")] = ""
    finnhub_calls: Annotated[
        int, Meta(ge=1, le=10_000, description="Finnhub: calls per minute, over all workers")
    ] = 55
