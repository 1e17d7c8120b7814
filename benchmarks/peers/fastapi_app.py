"""A usual FastAPI application: models, a Redis rate limit for each request, a connection manager."""

import asyncio
import json
import os
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import redis.asyncio
from fastapi import Depends, FastAPI, HTTPException, Query, Request, WebSocket, WebSocketDisconnect
from pydantic import BaseModel

LIMIT = 1_000_000
WINDOW_SECONDS = 60

client = redis.asyncio.from_url(os.environ["REDIS_URL"])


class StockQuote(BaseModel):
    """The answer of `/quotes` for a symbol."""

    ticker: str
    name: str
    price: float
    change: float
    changePercent: float
    open: float
    high: float
    low: float
    previousClose: float
    volume: str
    sector: str
    industry: str
    timestamp: str


class ConnectionManager:
    """Open WebSockets and their symbols; no symbols means all."""

    def __init__(self) -> None:
        self.connections: dict[WebSocket, set[str]] = {}

    async def connect(self, websocket: WebSocket, symbols: set[str]) -> None:
        await websocket.accept()
        self.connections[websocket] = symbols

    def disconnect(self, websocket: WebSocket) -> None:
        self.connections.pop(websocket, None)

    async def broadcast(self, message: str, tickers: set[str]) -> None:
        for websocket, symbols in list(self.connections.items()):
            if symbols and not symbols & tickers:
                continue
            try:
                await websocket.send_text(message)
            except (RuntimeError, WebSocketDisconnect):
                self.disconnect(websocket)


manager = ConnectionManager()
quotes: dict[str, StockQuote] = {}


async def follow() -> None:
    """Stores published quotes and broadcasts them."""
    pubsub = client.pubsub()
    await pubsub.subscribe("quotes")
    async for message in pubsub.listen():
        if message["type"] != "message":
            continue
        text = message["data"].decode()
        changed = json.loads(text)["data"]
        for each in changed:
            known = quotes.get(each["ticker"])
            if known:
                quotes[each["ticker"]] = known.model_copy(update=each)
        await manager.broadcast(text, {each["ticker"] for each in changed})


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    for number in range(500):
        quotes[f"S{number:04}"] = StockQuote(
            ticker=f"S{number:04}",
            name="Example Industries, Inc.",
            price=100.5,
            change=1.23,
            changePercent=0.4567,
            open=100.12,
            high=712.34,
            low=98.76,
            previousClose=99.27,
            volume="12345678",
            sector="Information Technology",
            industry="Technology Hardware, Storage & Peripherals",
            timestamp="2026-11-20T20:59:59.123Z",
        )
    task = asyncio.create_task(follow())
    yield
    task.cancel()


app = FastAPI(lifespan=lifespan)


async def limit(request: Request) -> None:
    """Limits by a sliding window over a minute: a sorted set in Redis for each address and path."""
    key = f"limit:{request.client.host if request.client else ''}:{request.url.path}"
    now = time.time()
    async with client.pipeline(transaction=True) as pipe:
        pipe.zremrangebyscore(key, 0, now - WINDOW_SECONDS)
        pipe.zadd(key, {str(uuid.uuid4()): now})
        pipe.zcard(key)
        pipe.expire(key, WINDOW_SECONDS)
        _, _, count, _ = await pipe.execute()
    if count > LIMIT:
        raise HTTPException(429, "Too many requests")


@app.get("/quotes", dependencies=[Depends(limit)])
async def get_quotes(symbols: Annotated[str, Query()]) -> dict[str, StockQuote]:
    if symbols == "all":
        return quotes
    wanted = symbols.split(",")
    return {symbol: quotes[symbol] for symbol in wanted if symbol in quotes}


@app.websocket("/ws")
async def stream(websocket: WebSocket, symbols: str = "") -> None:
    await manager.connect(websocket, {symbol for symbol in symbols.split(",") if symbol})
    try:
        while True:
            await websocket.receive_text()
    except WebSocketDisconnect:
        manager.disconnect(websocket)
