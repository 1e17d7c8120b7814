"""Frames of a feed for the tests of `quotecast audit`, with moments."""

from datetime import UTC, datetime
from typing import Any

from quotecast.commands.auditing.figures import Moment

START = 1_795_118_400.0
EPOCH = "01a1fbdce3accb15dff6.fe29"


def moment(seconds: float) -> Moment:
    """Returns a moment after the start of an audit."""
    return Moment(seconds, START + seconds)


def iso(seconds: float) -> str:
    """Returns the time of a quote, in seconds after the start."""
    text = datetime.fromtimestamp(START + seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def quote(ticker: str = "AAPL", seconds: float = 0.0, price: float = 100.0) -> dict[str, Any]:
    return {"type": "stock_quote", "ticker": ticker, "price": price, "timestamp": iso(seconds)}


def welcome(heartbeat_ms: int = 15_000) -> dict[str, Any]:
    return {"type": "welcome", "feed": "market", "epoch": EPOCH, "seq": 1, "heartbeatMs": heartbeat_ms}


def subscribed(*rejected: str) -> dict[str, Any]:
    return {
        "type": "subscribed",
        "symbols": "all",
        "rejected": [{"symbol": symbol, "code": 404} for symbol in rejected],
        "interval": 250,
    }


def snapshot(
    seq: int, *quotes: dict[str, Any], reason: str = "subscribe", epoch: str = EPOCH
) -> dict[str, Any]:
    return {"type": "snapshot", "epoch": epoch, "seq": seq, "reason": reason, "data": [*quotes]}


def update(seq: int, *quotes: dict[str, Any], epoch: str = EPOCH, **more: Any) -> dict[str, Any]:
    return {"type": "update", "epoch": epoch, "seq": seq, "data": [*quotes], **more}


def heartbeat(seq: int, state: str = "live", epoch: str = EPOCH) -> dict[str, Any]:
    return {"type": "heartbeat", "epoch": epoch, "seq": seq, "timestamp": iso(0), "feed": state}
