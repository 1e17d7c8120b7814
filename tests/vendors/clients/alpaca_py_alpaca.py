"""alpaca-py against a simulated Alpaca: REST of stocks, pairs, news and the broker, and the streams."""

import asyncio
import json
import sys
from datetime import datetime
from typing import Any

from alpaca.data.enums import Adjustment
from alpaca.data.historical.crypto import CryptoHistoricalDataClient
from alpaca.data.historical.news import NewsClient
from alpaca.data.historical.stock import StockHistoricalDataClient
from alpaca.data.live.news import NewsDataStream
from alpaca.data.live.stock import StockDataStream
from alpaca.data.requests import (
    CryptoBarsRequest,
    CryptoLatestOrderbookRequest,
    CryptoLatestQuoteRequest,
    CryptoSnapshotRequest,
    NewsRequest,
    StockBarsRequest,
    StockLatestQuoteRequest,
    StockLatestTradeRequest,
    StockSnapshotRequest,
    StockTradesRequest,
)
from alpaca.data.timeframe import TimeFrame, TimeFrameUnit
from alpaca.trading.client import TradingClient
from alpaca.trading.enums import AssetClass
from alpaca.trading.requests import GetAssetsRequest, GetCalendarRequest

KEYS = ("key", "secret")
SYMBOLS = ["AAPL", "BRK.B"]
PAIRS = ["BTC/USD", "ETH/USD"]


def bars(found: Any) -> dict[str, list[list[Any]]]:
    """Returns time, prices and volume of each bar."""
    return {
        symbol: [
            [each.timestamp.isoformat(), each.open, each.high, each.low, each.close, each.volume]
            for each in rows
        ]
        for symbol, rows in found.data.items()
    }


def stocks(url: str, start: datetime, end: datetime) -> dict[str, Any]:
    client = StockHistoricalDataClient(*KEYS, url_override=url)
    frames = {
        "5m": TimeFrame(5, TimeFrameUnit.Minute),
        "7m": TimeFrame(7, TimeFrameUnit.Minute),
        "1d": TimeFrame.Day,
        "1w": TimeFrame.Week,
        "3mo": TimeFrame(3, TimeFrameUnit.Month),
    }
    span = {"symbol_or_symbols": SYMBOLS, "start": start, "end": end}
    trades = client.get_stock_trades(StockTradesRequest(**span, limit=50))
    return {
        "bars": {
            name: bars(
                client.get_stock_bars(StockBarsRequest(**span, timeframe=frame, adjustment=Adjustment.ALL))
            )
            for name, frame in frames.items()
        },
        "snapshots": {
            symbol: [each.latest_trade.price, each.daily_bar.close, each.previous_daily_bar.close]
            for symbol, each in client.get_stock_snapshot(
                StockSnapshotRequest(symbol_or_symbols=SYMBOLS)
            ).items()
        },
        "trades": [[each.timestamp.isoformat(), each.price] for each in trades.data["AAPL"]],
        "latest": client.get_stock_latest_trade(StockLatestTradeRequest(symbol_or_symbols="AAPL"))[
            "AAPL"
        ].price,
        "spread": [
            [each.bid_price, each.ask_price]
            for each in client.get_stock_latest_quote(
                StockLatestQuoteRequest(symbol_or_symbols=SYMBOLS)
            ).values()
        ],
    }


def pairs(url: str, start: datetime, end: datetime) -> dict[str, Any]:
    client = CryptoHistoricalDataClient(url_override=url)
    request = CryptoBarsRequest(symbol_or_symbols=PAIRS, timeframe=TimeFrame.Hour, start=start, end=end)
    wanted = {"symbol_or_symbols": PAIRS}
    return {
        "bars": bars(client.get_crypto_bars(request)),
        "snapshots": {
            symbol: each.latest_trade.price
            for symbol, each in client.get_crypto_snapshot(CryptoSnapshotRequest(**wanted)).items()
        },
        "quotes": sorted(client.get_crypto_latest_quote(CryptoLatestQuoteRequest(**wanted))),
        "books": {
            symbol: [len(each.bids), len(each.asks)]
            for symbol, each in client.get_crypto_latest_orderbook(
                CryptoLatestOrderbookRequest(**wanted)
            ).items()
        },
    }


def broker(url: str) -> dict[str, Any]:
    client = TradingClient(*KEYS, url_override=url)
    clock = client.get_clock()
    days = client.get_calendar(GetCalendarRequest(start="2026-11-23", end="2026-11-27"))
    return {
        "is_open": clock.is_open,
        "next_close": clock.next_close.isoformat(),
        "days": [[f"{each.date}", each.open.isoformat(), each.close.isoformat()] for each in days],
        "stocks": len(client.get_all_assets(GetAssetsRequest(asset_class=AssetClass.US_EQUITY))),
        "pairs": len(client.get_all_assets(GetAssetsRequest(asset_class=AssetClass.CRYPTO))),
        "apple": client.get_asset("AAPL").name,
    }


def news(url: str) -> list[list[Any]]:
    found = NewsClient(*KEYS, url_override=url).get_news(NewsRequest(limit=60))
    return [[each.id, each.headline, each.symbols] for each in found.data["news"]]


def stream(url: str, wanted: int) -> dict[str, Any]:
    """Returns the first trades and quotes."""
    client = StockDataStream(*KEYS, url_override=f"{url}/v2/iex")
    received: dict[str, list[Any]] = {"trades": [], "quotes": []}

    def is_enough() -> bool:
        return all(len(each) >= wanted for each in received.values())

    async def take_trade(trade: Any) -> None:
        received["trades"].append([trade.symbol, trade.timestamp.isoformat(), trade.price])
        if is_enough():
            await client.stop_ws()

    async def take_quote(quote: Any) -> None:
        received["quotes"].append([quote.symbol, quote.bid_price, quote.ask_price])
        if is_enough():
            await client.stop_ws()

    client.subscribe_trades(take_trade, *SYMBOLS)
    client.subscribe_quotes(take_quote, "AAPL")
    asyncio.run(client._run_forever())
    return received


def news_stream(url: str) -> list[Any]:
    """Returns the first story that comes."""
    client = NewsDataStream(*KEYS, url_override=f"{url}/v1beta1/news")
    received: list[Any] = []

    async def take(story: Any) -> None:
        received.append([story.id, story.headline, story.created_at.isoformat()])
        await client.stop_ws()

    client.subscribe_news(take, "*")
    asyncio.run(client._run_forever())
    return received


def main() -> None:
    url, websocket_url, start, end, *more = sys.argv[1:]
    span = datetime.fromisoformat(start), datetime.fromisoformat(end)
    found = {
        "stocks": stocks(url, *span),
        "pairs": pairs(url, *span),
        "broker": broker(url),
        "news": news(url),
        "stream": stream(websocket_url, 20),
    }
    if "stories" in more:
        found["news_stream"] = news_stream(websocket_url)
    sys.stdout.write(json.dumps(found) + "\n")


main()
