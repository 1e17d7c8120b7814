"""The venues with Binance's interface, each with its own prices, pairs and hosts."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from quotecast.providers.crypto import Venue


class BinanceVenue(Venue, frozen=True, kw_only=True):
    """An exchange with Binance's interface, and how that differs."""

    #: The parameters of `GET /api/v3/exchangeInfo`.
    listing: Mapping[str, str]
    #: A symbol with a ticker every second; None where only pings show that a connection lives.
    heartbeat: str | None


GLOBAL: Final = BinanceVenue(
    name="binance",
    exchange="Binance",
    # Without these parameters the answer is several times as long.
    listing={"permissions": "SPOT", "showPermissionSets": "false", "symbolStatus": "TRADING"},
    heartbeat="BTCUSDT",
)
#: Its documentation names fewer parameters, and minutes pass there without a trade of any pair.
US: Final = BinanceVenue(name="binance.us", exchange="Binance.US", listing={}, heartbeat=None)


def venue_of(url: str) -> BinanceVenue:
    """Returns the venue of a URL, by its host."""
    host = urlsplit(url).hostname or ""
    return US if f".{host}".endswith(".binance.us") else GLOBAL
