"""The leaves of the simulation: single trades, one every two milliseconds."""

from typing import Final

from msgspec import Struct

from quotecast.providers.simulator.candles import TENTH, TickCandle

#: Milliseconds from one trade to the next.
PAUSE: Final = 2

#: Trades in a tenth of a second.
COUNT: Final = TENTH // PAUSE

#: Bytes of randomness that `trades` takes.
NOISE_LENGTH: Final = COUNT + 1

_LAST: Final = COUNT - 1


class Trades(Struct, frozen=True, gc=False):
    """The trades of a tenth of a second; prices are worked out when asked for, as most never are."""

    tenth: TickCandle
    #: Where each price lies between the candle's low (0) and high (255).
    heights: bytes

    def price(self, number: int) -> int:
        """Price of one trade, in ticks."""
        tenth = self.tenth
        if number == _LAST:
            return tenth.close
        return tenth.low + (self.heights[number] * (tenth.high - tenth.low) + 127) // 255

    def prices(self, count: int = COUNT) -> list[int]:
        """Prices of the first trades, of all by default."""
        return [self.price(number) for number in range(count)]

    def candle_until(self, moment: int) -> TickCandle:
        """The candle as it stands at a moment within it, the trade of the moment included.

        Its volume is spread evenly over the trades.
        """
        tenth = self.tenth
        count = (moment - tenth.start) // PAUSE + 1
        seen = [tenth.open, *self.prices(count)]
        return TickCandle(
            tenth.start,
            tenth.start + count * PAUSE,
            tenth.open,
            max(seen),
            min(seen),
            seen[-1],
            tenth.volume * count // COUNT,
        )


def trades(tenth: TickCandle, data: bytes) -> Trades:
    """Trades that touch the candle's high and low and end at its close, shaped by random bytes.

    A tenth of a second is too short for a trend: prices jump to and fro in the candle's range, as trades
    do between bid and ask. At high rates most of the work is done here, hence no more than it takes.
    """
    heights = bytearray(data)
    top = heights.pop() * _LAST >> 8
    bottom = (top + 1 + (heights[_LAST] * (_LAST - 1) >> 8)) % _LAST
    heights[top], heights[bottom] = 255, 0
    return Trades(tenth, bytes(heights))
