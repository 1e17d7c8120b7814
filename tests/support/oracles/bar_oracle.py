"""What bars must be, from the list of all updates: slow, and written apart from the service's own way."""

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from quotecast.market.calendars import EXCHANGE
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import OwnBar
from quotecast.market.quotes import DovizQuote, Quote

NEW_YORK: Final = ZoneInfo("America/New_York")
_ZONES: Final = {Feed.STOCKS: NEW_YORK, Feed.CRYPTO: ZoneInfo("UTC"), Feed.DOVIZ: ZoneInfo("Europe/Istanbul")}
_LENGTHS: Final = {"1m": 60, "5m": 300, "15m": 900, "1h": 3600}

#: A bar by interval, symbol and opening.
Bars = dict[tuple[str, str, int], OwnBar]


class Oracle:
    """Collects updates, and answers with all bars of them."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._counted: list[tuple[int, str, float, float | None]] = []
        self._newest_minute: dict[str, int] = {}
        self._volumes: dict[str, tuple[float, object]] = {}
        self.through = 0

    def reset_volume(self) -> None:
        """Forgets the volumes from which rises count, as a Redis and an ingest do that die together."""
        self._volumes.clear()

    def pass_time(self, now: float) -> None:
        """Closes all minutes that ended at least two seconds ago."""
        self.through = max(self.through, int((int(now) - 2) // 60) * 60)

    def update(self, quote: Quote, now: float) -> None:
        """Counts one update, at the feed's time."""
        self.pass_time(now)
        assert quote.timestamp is not None
        stated = int(datetime.fromisoformat(quote.timestamp).timestamp() // 60) * 60
        present = int(now // 60) * 60
        if present - min(stated, present) > 600:
            return
        minute = max(min(stated, present), self.through, self._newest_minute.get(quote.key, 0))
        rise = self._rise(quote, minute)
        if self._is_open(minute):
            self._newest_minute[quote.key] = minute
            self._counted.append((minute, quote.key, quote.price, rise))

    def bars(self) -> Bars:
        """Returns every bar, final or not."""
        bars: Bars = {}
        for minute, key, price, rise in self._counted:
            _grow(bars, ("1m", key, minute), OwnBar(minute, price, price, price, price, rise, 1))
        for interval in ("5m", "15m", "1h", "D"):
            # Stable: minutes in order of time.
            for (length, key, minute), bar in sorted(bars.items(), key=lambda item: item[0][2]):
                if length == "1m":
                    _grow(bars, (interval, key, self._opening(interval, minute)), bar)
        return bars

    def final(self) -> Bars:
        """Returns the bars that have ended."""
        return {
            place: bar for place, bar in self.bars().items() if self._end(place[0], place[2]) <= self.through
        }

    def _rise(self, quote: Quote, minute: int) -> float | None:
        if isinstance(quote, DovizQuote):
            return None
        volume = float(quote.volume or 0)
        day = datetime.fromtimestamp(minute, NEW_YORK).date() if self._feed is Feed.STOCKS else None
        if quote.key not in self._volumes:
            self._volumes[quote.key] = volume, day
            return 0.0
        seen, seen_day = self._volumes[quote.key]
        if self._feed is Feed.CRYPTO:
            self._volumes[quote.key] = volume, day
            return round(max(0.0, volume - seen), 8)
        if day != seen_day and volume != seen:
            self._volumes[quote.key] = volume, day
            return volume
        self._volumes[quote.key] = max(volume, seen), seen_day
        return round(max(0.0, volume - seen), 8)

    def _is_open(self, minute: int) -> bool:
        if self._feed is not Feed.STOCKS:
            return True
        moment = datetime.fromtimestamp(minute, UTC)
        return moment < next(EXCHANGE.until(moment)).close

    def _opening(self, interval: str, minute: int) -> int:
        moment = datetime.fromtimestamp(minute, _ZONES[self._feed])
        midnight = int(moment.replace(hour=0, minute=0).timestamp())
        if interval == "D":
            return midnight
        opening = minute - (minute - midnight) % _LENGTHS[interval]
        if self._feed is Feed.STOCKS:
            opening = max(opening, int(moment.replace(hour=9, minute=30).timestamp()))
        return opening

    def _end(self, interval: str, opened: int) -> int:
        moment = datetime.fromtimestamp(opened, _ZONES[self._feed])
        midnight = moment.replace(hour=0, minute=0)
        if interval != "D":
            passed = opened - int(midnight.timestamp())
            end = opened + _LENGTHS[interval] - passed % _LENGTHS[interval]
            close = midnight.replace(hour=16).timestamp() if self._feed is Feed.STOCKS else end
            return min(end, int(close))
        if self._feed is Feed.STOCKS:
            return int(midnight.replace(hour=16).timestamp())
        return int((midnight + timedelta(days=1)).timestamp())


def _grow(bars: Bars, place: tuple[str, str, int], piece: OwnBar) -> None:
    bar = bars.get(place)
    if bar is None:
        bars[place] = OwnBar(
            place[2], piece.open, piece.high, piece.low, piece.close, piece.volume, piece.updates
        )
        return
    volume = None if bar.volume is None or piece.volume is None else round(bar.volume + piece.volume, 8)
    bars[place] = OwnBar(
        place[2],
        bar.open,
        max(bar.high, piece.high),
        min(bar.low, piece.low),
        piece.close,
        volume,
        bar.updates + piece.updates,
    )
