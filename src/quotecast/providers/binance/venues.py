"""The venues behind Binance's interface, each with prices, pairs and hosts of its own."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct


class Venue(Struct, frozen=True, kw_only=True):
    """One exchange, and how its interface differs."""

    #: What quotes, bars and the feed's state call the provider.
    name: str
    exchange: str
    #: What `GET /api/v3/exchangeInfo` is asked with.
    listing: Mapping[str, str]
    #: A symbol with a ticker every second; None where only pings show that a connection lives.
    heartbeat: str | None


GLOBAL: Final = Venue(
    name="binance",
    exchange="Binance",
    # Without these limits the answer is several times as long.
    listing={"permissions": "SPOT", "showPermissionSets": "false", "symbolStatus": "TRADING"},
    heartbeat="BTCUSDT",
)
#: Its documentation names fewer parameters, and minutes pass there without a trade of any pair.
US: Final = Venue(name="binance.us", exchange="Binance.US", listing={}, heartbeat=None)


def venue_of(url: str) -> Venue:
    """The venue of a host."""
    host = urlsplit(url).hostname or ""
    return US if f".{host}".endswith(".binance.us") else GLOBAL
