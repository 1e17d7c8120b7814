"""Binance's request weight per minute: 429 beyond the limit, 418 for a client that goes on."""

from typing import Final

from quotecast.simulation.vendors.binance.errors import banned, weight_used
from quotecast.simulation.vendors.http import Answer

MINUTE: Final = 60_000
#: Weight that one address may use in a minute.
MAX_WEIGHT: Final = 6000
#: Refused requests in a row after which the address is banned.
_PATIENCE: Final = 10
#: The shortest ban.
_BAN: Final = 2 * MINUTE


class Weights:
    """The weight that all clients have used in the current minute of the market's time."""

    def __init__(self, moment: int, used: int = 0) -> None:
        self.used = used
        self._minute = moment // MINUTE
        self._refused = 0
        self._banned_until = 0

    def spend(self, weight: int, moment: int) -> Answer | None:
        """Counts a request's weight; returns the refusal of a request beyond the limit."""
        if moment // MINUTE != self._minute:
            self._minute, self.used = moment // MINUTE, 0
        self.used += weight
        if self.used > MAX_WEIGHT or moment < self._banned_until:
            return self.refuse(moment)
        self._refused = 0
        return None

    def refuse(self, moment: int) -> Answer:
        """Returns 429 until the minute ends; 418 for a client that has ignored it."""
        self._refused += 1
        if moment >= self._banned_until and self._refused > _PATIENCE:
            self._banned_until = moment + _BAN
        if moment < self._banned_until:
            return banned(_seconds(self._banned_until - moment), self._banned_until)
        return weight_used(_seconds(MINUTE - moment % MINUTE), MAX_WEIGHT)


def _seconds(milliseconds: int) -> int:
    return -(-milliseconds // 1000)
