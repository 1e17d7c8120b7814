"""Checks of prices against earlier ones of the same instrument."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from quotecast.providers.refusals import Reason

#: The factor above or below the last good price from which a price is absurd.
ABSURD_FACTOR: Final = 10
#: Seconds for which a good price judges later ones, so that the judge believes a real leap in the end.
JUDGING_SECONDS: Final = 3600.0


class _Good(Struct, frozen=True):
    price: float
    received: float
    #: The order of the last price with one, and the Unix time of its arrival.
    order: float = 0.0
    ordered: float = float("-inf")


_UNKNOWN: Final = _Good(0.0, float("-inf"))


class Judge:
    """Remembers the last good price of each instrument of one upstream, over all its connections.

    It doubts a price that is older than one that it believed (`outdated`), or more than ten times or less
    than a tenth of the last good one of the past hour (`absurd`).
    """

    def __init__(self) -> None:
        self._good: dict[str, _Good] = {}

    def doubt(self, key: str, price: float, received: float, order: float = 0) -> Reason | None:
        """Returns why not to believe a price received at that Unix time; None for a price that it believes.

        A believed price judges the next ones. `order` grows with time where the upstream numbers its
        messages; 0 where it does not, which leaves the order of later messages as it is.
        """
        before = self._good.get(key, _UNKNOWN)
        # Compares orders, not times: a clock that steps back must not silence an instrument.
        if 0 < order < before.order and received - before.ordered < JUDGING_SECONDS:
            return "outdated"
        if received - before.received < JUDGING_SECONDS and not is_near(price, before.price):
            return "absurd"
        ordered = received if order else before.ordered
        self._good[key] = _Good(price, received, order or before.order, ordered)
        return None

    def refer(self, key: str, price: float, received: float) -> None:
        """Sets the price that judges the next ones, from another source such as the close before."""
        before = self._good.get(key, _UNKNOWN)
        self._good[key] = _Good(price, received, before.order, before.ordered)

    def forget(self, key: str) -> None:
        """Forgets an instrument's last good price, so that the next one is believed."""
        self._good.pop(key, None)

    def keep_only(self, keys: Iterable[str]) -> list[str]:
        """Forgets every instrument not among `keys`. Returns the forgotten ones, sorted."""
        gone = sorted(self._good.keys() - set(keys))
        for key in gone:
            del self._good[key]
        return gone


def judge_closes(closes: Sequence[float]) -> list[bool]:
    """Returns for each close of ascending bars whether to believe it.

    It is believable near the last believable one, or near one of the next two: a market that leaps stays.
    """
    verdicts: list[bool] = []
    last: list[float] = []
    for number, close in enumerate(closes):
        others = [*last, *closes[number + 1 : number + 3]]
        believed = not others or any(is_near(close, other) for other in others)
        verdicts.append(believed)
        last = [close] if believed else last
    return verdicts


def is_near(price: float, other: float, factor: float = ABSURD_FACTOR) -> bool:
    """Returns whether a price is at most `factor` times the other, and at least the same part of it."""
    return other / factor <= price <= other * factor
