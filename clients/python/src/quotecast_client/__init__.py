"""Live quotes, bars and accounts of a quotecast service."""

from quotecast_client._async.client import AsyncClient
from quotecast_client._async.stream import AsyncBarStream, AsyncStream
from quotecast_client._sync.client import Client
from quotecast_client._sync.stream import BarStream, Stream
from quotecast_client.copies import BarChange, Copy, QuoteChange
from quotecast_client.errors import (
    ApiError,
    ConnectionFailed,
    Forbidden,
    InvalidWebhook,
    NotFound,
    QuotecastError,
    RateLimited,
    StreamRefused,
    Unauthorized,
    Unavailable,
    UnknownSymbols,
)
from quotecast_client.frames import to_pandas, to_polars
from quotecast_client.live_bars import LiveBar, LiveInterval
from quotecast_client.names import Feed
from quotecast_client.quotes import Quote
from quotecast_client.sessions import State
from quotecast_client.settings import VERSION as __version__  # noqa: N811 - the usual name
from quotecast_client.webhooks import verify_webhook

__all__ = [
    "ApiError",
    "AsyncBarStream",
    "AsyncClient",
    "AsyncStream",
    "BarChange",
    "BarStream",
    "Client",
    "ConnectionFailed",
    "Copy",
    "Feed",
    "Forbidden",
    "InvalidWebhook",
    "LiveBar",
    "LiveInterval",
    "NotFound",
    "Quote",
    "QuoteChange",
    "QuotecastError",
    "RateLimited",
    "State",
    "Stream",
    "StreamRefused",
    "Unauthorized",
    "Unavailable",
    "UnknownSymbols",
    "__version__",
    "to_pandas",
    "to_polars",
    "verify_webhook",
]
