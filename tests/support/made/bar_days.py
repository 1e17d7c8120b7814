"""Generated days of a feed, with late data, corrections, resets, takeovers and lost batches."""

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from support.made.market import doviz, pair, stock

#: Six in the morning in New York on a Friday, as Unix time.
MORNING: Final = 1_763_722_800
_HOURS: Final = {Feed.STOCKS: 14, Feed.CRYPTO: 24, Feed.DOVIZ: 24}
_SYMBOLS: Final = {
    Feed.STOCKS: ("AAPL", "MSFT"),
    Feed.CRYPTO: ("BTC/USDT", "ETH/USDT"),
    Feed.DOVIZ: ("USD", "gram-altin"),
}


class Step(Struct, frozen=True):
    """An event at the feed's Unix time `now`: an update, or what befalls the service."""

    now: float
    quote: Quote | None = None
    #: `takeover`, `redis_lost`, `batch_lost` or `quiet`.
    event: str = "quiet"


def steps(feed: Feed, seed: int, count: int = 24) -> Iterator[Step]:
    """Yields the steps of one generated day."""
    random = Random(seed)
    now: float = MORNING + random.randrange(_HOURS[feed] * 3600)
    volumes = dict.fromkeys(_SYMBOLS[feed], 1000.0)
    for _ in range(count):
        now += random.choice((0.1, 0.5, 3, 20, 61, 130, 900, 4000))
        if random.random() < 0.2:
            yield Step(now, event=random.choice(("takeover", "redis_lost", "batch_lost", "quiet")))
            continue
        symbol = random.choice(_SYMBOLS[feed])
        volumes[symbol] = _next_volume(random, volumes[symbol])
        lag = random.choice((0.0, 0.0, 0.0, 1.5, 70.0, 650.0, 5000.0, -30.0))
        price = random.choice((0.1, 0.3, 99.99, 100.0, 100.01, 12345.678))
        yield Step(now, _quote(feed, symbol, price, volumes[symbol], now - lag), "update")


def _next_volume(random: Random, before: float) -> float:
    """Returns a volume that has risen, or a corrected one, or that of a new day."""
    return random.choice((before, before + 0.1, before + 250, before + 3, max(0.0, before - 5), 7.0))


def _quote(feed: Feed, symbol: str, price: float, volume: float, at: float) -> Quote:
    timestamp = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.%f}"[:23] + "Z"
    match feed:
        case Feed.STOCKS:
            return replace(stock(symbol, price), volume=str(int(volume)), timestamp=timestamp)
        case Feed.CRYPTO:
            return replace(pair(symbol, price), volume=round(volume, 8), timestamp=timestamp)
        case _:
            return replace(doviz(symbol, price), timestamp=timestamp)
