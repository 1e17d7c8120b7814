"""python-kraken-sdk: public REST and WebSocket v2 of a Kraken at the given addresses, as a line of JSON."""

import asyncio
import json
import sys
from typing import Any

from kraken.spot import Market, SpotOrderBookClient, SpotWSClient

PART, REST, STREAM = sys.argv[1:]
#: Messages of a book, after which the script ends.
ENOUGH = 20
CHANNELS = ("ticker", "trade", "ohlc", "instrument")


def rest() -> dict[str, Any]:
    market = Market(url=REST)
    return {
        "status": market.get_system_status()["status"],
        "assets": sorted(market.get_assets(assets="XBT,USD")),
        "pairs": market.get_asset_pairs(pair=["XBTUSD"]),
        "ticker": market.get_ticker(pair="XBTUSD"),
        "ohlc": market.get_ohlc(pair="XBTUSD", interval=60),
        "book": market.get_order_book(pair="XBTUSD", count=5),
        "trades": market.get_recent_trades(pair="XBTUSD"),
        "spreads": market.get_recent_spreads(pair="XBTUSD"),
    }


class Streams(SpotWSClient):
    """Notes the snapshot and an update of each channel."""

    def __init__(self) -> None:
        super().__init__(rest_url=REST, ws_url=STREAM)
        self.snapshots: dict[str, Any] = {}
        self.updates: dict[str, Any] = {}
        self.others: dict[str, list[Any]] = {}
        self.leaving = False
        self.complete = asyncio.Event()

    async def on_message(self, message: Any) -> None:
        channel, kind = message.get("channel"), message.get("type")
        if kind == "snapshot":
            self.snapshots[channel] = message["data"]
        elif kind == "update":
            self.updates[channel] = message["data"]
        elif message.get("method"):
            self.others.setdefault(message["method"], []).append(message)
        wanted = {*CHANNELS} <= {*self.snapshots} and {"ticker", "trade", "ohlc"} <= {*self.updates}
        if wanted and "unsubscribe" in self.others:
            self.complete.set()
        elif wanted and not self.leaving:
            self.leaving = True
            await self.unsubscribe(params={"channel": "ticker", "symbol": ["BTC/USD"]})


class Books(SpotOrderBookClient):
    """Keeps a book and checks the checksum of every message."""

    WS_URL = STREAM

    def __init__(self) -> None:
        super().__init__(depth=10)
        self.checked = 0
        self.valid = True
        self.complete = asyncio.Event()

    async def on_book_update(self, pair: str, message: Any) -> None:
        book = self.get(pair=pair)
        if message.get("channel") == "book" and book:
            self.checked += self.checked < ENOUGH
            self.valid = self.valid and book["valid"]
            if self.checked == ENOUGH:
                self.complete.set()


async def streams() -> dict[str, Any]:
    client = Streams()
    await client.start()
    await client.subscribe(params={"channel": "ticker", "symbol": ["BTC/USD", "NONE/USD"]})
    await client.subscribe(params={"channel": "trade", "symbol": ["BTC/USD"], "snapshot": True})
    await client.subscribe(params={"channel": "ohlc", "symbol": ["BTC/USD"], "interval": 1})
    await client.subscribe(params={"channel": "instrument"})
    await client.complete.wait()
    await client.close()
    return {
        "snapshots": {name: client.snapshots[name] for name in CHANNELS if name != "instrument"},
        "instruments": len(client.snapshots["instrument"]["pairs"]),
        "updates": client.updates,
        "answers": client.others,
    }


async def books() -> dict[str, Any]:
    books = Books()
    await books.start()
    await books.add_book(pairs=["BTC/USD"])
    await books.complete.wait()
    await books.close()
    return {"checked": books.checked, "valid": books.valid}


Market.URL = REST
match PART:
    case "rest":
        found = rest()
    case "streams":
        found = asyncio.run(streams())
    case _:
        found = asyncio.run(books())
sys.stdout.write(json.dumps(found))
