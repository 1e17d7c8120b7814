"""Simulated trades, one every two milliseconds: the finest level of the simulation."""

from typing import Final

from msgspec import Struct

from quotecast.simulation.market.candles import TENTH, TickCandle

#: Milliseconds between two trades.
PAUSE: Final = 2

#: Trades per tenth of a second.
COUNT: Final = TENTH // PAUSE

#: Random bytes that `trades` takes.
NOISE_LENGTH: Final = COUNT + 1

_LAST: Final = COUNT - 1


class Trades(Struct, frozen=True, gc=False):
    """The trades within a tenth of a second; prices are computed on demand, because most are never read."""

    tenth: TickCandle
    #: Position of each price between the candle's low (0) and high (255).
    heights: bytes

    def price(self, number: int) -> int:
        """Returns one trade's price in ticks."""
        tenth = self.tenth
        if number == _LAST:
            return tenth.close
        return tenth.low + (self.heights[number] * (tenth.high - tenth.low) + 127) // 255

    def prices(self, count: int = COUNT) -> list[int]:
        """Returns the prices of the first `count` trades in ticks; of all trades by default."""
        return [self.price(number) for number in range(count)]

    def candle_until(self, moment: int) -> TickCandle:
        """Returns the candle up to a moment within it, that moment's trade included.

        Its volume is spread evenly over the trades.
        """
        tenth = self.tenth
        count = (moment - tenth.start) // PAUSE + 1
        prices = [tenth.open, *self.prices(count)]
        return TickCandle(
            tenth.start,
            tenth.start + count * PAUSE,
            tenth.open,
            max(prices),
            min(prices),
            prices[-1],
            tenth.volume * count // COUNT,
        )


def trades(tenth: TickCandle, data: bytes) -> Trades:
    """Returns trades that touch the candle's high and low and end at its close, shaped by random bytes.

    A tenth of a second is too short for a trend: prices jump within the candle's range, as trades jump
    between bid and ask. At high rates this is the hot path, so it does no more work than necessary.
    """
    heights = bytearray(data)
    top = heights.pop() * _LAST >> 8
    bottom = (top + 1 + (heights[_LAST] * (_LAST - 1) >> 8)) % _LAST
    heights[top], heights[bottom] = 255, 0
    return Trades(tenth, bytes(heights))
