"""The venues behind Binance's interface, each with prices, pairs and hosts of its own."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from quotecast.providers.crypto import Venue


class BinanceVenue(Venue, frozen=True, kw_only=True):
    """An exchange with Binance's interface, and how that differs."""

    #: What `GET /api/v3/exchangeInfo` is asked with.
    listing: Mapping[str, str]
    #: A symbol with a ticker every second; None where only pings show that a connection lives.
    heartbeat: str | None


GLOBAL: Final = BinanceVenue(
    name="binance",
    exchange="Binance",
    # Without these limits the answer is several times as long.
    listing={"permissions": "SPOT", "showPermissionSets": "false", "symbolStatus": "TRADING"},
    heartbeat="BTCUSDT",
)
#: Its documentation names fewer parameters, and minutes pass there without a trade of any pair.
US: Final = BinanceVenue(name="binance.us", exchange="Binance.US", listing={}, heartbeat=None)


def venue_of(url: str) -> BinanceVenue:
    """The venue of a host."""
    host = urlsplit(url).hostname or ""
    return US if f".{host}".endswith(".binance.us") else GLOBAL
